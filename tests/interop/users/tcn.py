"""Dilated causal convolutions over a series, weight norm by hand, Huber loss."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_seed(26)


class Causal(nn.Cell):
    def __init__(self, i, o, k, d):
        super().__init__()
        self.cut = (k - 1) * d
        self.conv = nn.Conv1d(i, o, k, dilation=d, pad_mode="pad", padding=self.cut)
        self.gate = nn.Conv1d(i, o, 1)

    def construct(self, x):
        y = self.conv(x)[:, :, : -self.cut]
        return ops.relu(y + self.gate(x))


class TCN(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.SequentialCell([Causal(1, 4, 3, 1), Causal(4, 4, 3, 2)])
        self.head = nn.Dense(4, 1)

    def construct(self, x):
        return self.head(self.layers(x)[:, :, -1])


net = TCN()
opt = nn.Adam(net.trainable_params(), 0.02)
loss = nn.HuberLoss(delta=0.5)
step = ms.value_and_grad(lambda x, y: loss(net(x), y), None, opt.parameters)
r = np.random.RandomState(0)
x, y = Tensor(r.randn(4, 1, 12), ms.float32), Tensor(r.randn(4, 1), ms.float32)
for _ in range(4):
    value, g = step(x, y)
    opt(g)
    print(f"{float(value):.5f}")
