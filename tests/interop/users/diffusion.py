"""A tiny diffusion model: betas, sinusoidal time embedding, noise prediction, one sampling loop."""

import math

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_seed(14)
T = 10
betas = np.linspace(1e-3, 0.2, T).astype(np.float32)
bar = np.cumprod(1 - betas).astype(np.float32)


class Net(nn.Cell):
    def __init__(self, dim=8):
        super().__init__()
        self.freq = Tensor(np.exp(-math.log(100) * np.arange(dim // 2) / (dim // 2)), ms.float32)
        self.time = nn.Dense(dim, 16)
        self.first, self.last = nn.Dense(2, 16), nn.Dense(16, 2)
        self.act = nn.SiLU()

    def construct(self, x, t):
        angle = t.astype(ms.float32).expand_dims(1) * self.freq.expand_dims(0)
        e = self.time(ops.cat((ops.sin(angle), ops.cos(angle)), axis=1))
        return self.last(self.act(self.first(x) + e))


net = Net()
opt = nn.AdamWeightDecay(net.trainable_params(), 1e-2)
table = Tensor(bar)


def loss_fn(x, noise, t):
    a = ops.gather(table, t, 0).expand_dims(1)
    noisy = ops.sqrt(a) * x + ops.sqrt(1 - a) * noise
    return ops.mse_loss(net(noisy, t), noise)


step = ms.value_and_grad(loss_fn, None, opt.parameters)
r = np.random.RandomState(0)
for _ in range(4):
    value, g = step(
        Tensor(r.randn(8, 2), ms.float32), Tensor(r.randn(8, 2), ms.float32), Tensor(r.randint(0, T, 8), ms.int32)
    )
    opt(g)
    print(f"{float(value):.5f}")
x = Tensor(r.randn(2, 2), ms.float32)
for t in reversed(range(T)):
    eps = net(x, Tensor([t, t], ms.int32))
    x = (x - float(betas[t] / math.sqrt(1 - bar[t])) * eps) / math.sqrt(1 - betas[t])
print(x.asnumpy().round(3).tolist())
