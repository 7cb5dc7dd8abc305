"""Mixed precision: a float16 body, LayerNorm and loss in float32, a fixed loss scale."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_seed(23)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a = nn.Dense(6, 8).to_float(ms.float16)
        self.norm = nn.LayerNorm((8,))
        self.b = nn.Dense(8, 3).to_float(ms.float16)

    def construct(self, x):
        x = ops.relu(self.a(x)).astype(ms.float32)
        return self.b(self.norm(x)).astype(ms.float32)


net = Net()
loss = nn.CrossEntropyLoss()
opt = nn.Momentum(net.trainable_params(), 0.05, 0.9, loss_scale=128.0)


def forward(x, y):
    value = loss(net(x), y)
    return value * 128.0, value


step = ms.value_and_grad(forward, None, opt.parameters, has_aux=True)
r = np.random.RandomState(0)
x, y = Tensor(r.randn(8, 6), ms.float32), Tensor(r.randint(0, 3, 8), ms.int32)
for _ in range(4):
    (_, value), grads = step(x, y)
    opt(grads)
    print(f"{float(value):.3f}", {str(g.dtype) for g in grads})
