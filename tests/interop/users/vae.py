import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_seed(4)
ms.set_context(mode=ms.PYNATIVE_MODE)


class VAE(nn.Cell):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Dense(8, 6, activation="tanh")
        self.mean = nn.Dense(6, 2)
        self.spread = nn.Dense(6, 2)
        self.decoder = nn.SequentialCell(nn.Dense(2, 6), nn.Tanh(), nn.Dense(6, 8), nn.Sigmoid())

    def construct(self, x, noise):
        hidden = self.encoder(x)
        mean, spread = self.mean(hidden), self.spread(hidden)
        return self.decoder(mean + ops.exp(0.5 * spread) * noise), mean, spread


net = VAE()
opt = nn.Adam(net.trainable_params(), 0.01)


def forward(x, noise):
    out, mean, spread = net(x, noise)
    near = ops.binary_cross_entropy(out, x, ops.ones_like(x), "sum")
    return near - 0.5 * (1 + spread - mean.pow(2) - spread.exp()).sum()


grad = ms.value_and_grad(forward, None, opt.parameters)
r = np.random.RandomState(0)
for _ in range(3):
    x, noise = Tensor(r.rand(4, 8).astype(np.float32)), Tensor(r.randn(4, 2).astype(np.float32))
    value, grads = grad(x, noise)
    opt(grads)
    print(f"{float(value):.3f}")
