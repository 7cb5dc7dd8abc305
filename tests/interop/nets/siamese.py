"""A siamese network: one cell used twice."""

import numpy as np
from feed import data
from mindspore import Tensor, nn, ops


class Branch(nn.Cell):
    def __init__(self):
        super().__init__()
        self.c = nn.Conv2d(1, 3, 3, stride=2, pad_mode="pad", padding=1, has_bias=True)
        self.f = nn.Flatten()
        self.d = nn.Dense(3 * 4 * 4, 5, activation="tanh")

    def construct(self, x):
        return self.d(self.f(ops.relu(self.c(x))))


class Contrastive(nn.Cell):
    def __init__(self, net, margin=1.0):
        super().__init__()
        self.net = net
        self.margin = margin

    def construct(self, a, b, same):
        u, v = self.net(a), self.net(b)
        dist = (
            ops.sqrt(ops.reduce_sum(ops.square(u - v), 1) + 1e-6)
            if hasattr(ops, "reduce_sum")
            else ops.sqrt(((u - v) ** 2).sum(1) + 1e-6)
        )
        pos = same * dist**2
        neg = (1 - same) * ops.maximum(self.margin - dist, ops.zeros_like(dist)) ** 2
        return (pos + neg).mean()


net = Contrastive(Branch())
opt = nn.Adam(net.trainable_params(), learning_rate=0.01)
step = nn.TrainOneStepCell(net, opt)
step.set_train()
a, b = data(4, 1, 8, 8), data(4, 1, 8, 8, seed=2)
s = Tensor(np.array([1, 0, 1, 0], np.float32))
for _ in range(2):
    print(step(a, b, s))
