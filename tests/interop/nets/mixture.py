"""A mixture of experts with two tasks."""

from feed import data
from mindspore import nn, ops


class Expert(nn.Cell):
    def __init__(self, d):
        super().__init__()
        self.net = nn.SequentialCell(nn.Dense(d, 2 * d), nn.ReLU(), nn.Dense(2 * d, d))

    def construct(self, x):
        return self.net(x)


class MoE(nn.Cell):
    def __init__(self, d=4, n=3):
        super().__init__()
        self.experts = nn.CellList([Expert(d) for _ in range(n)])
        self.gate = nn.Dense(d, n)
        self.out = nn.Dense(d, 2)

    def construct(self, x):
        g = ops.softmax(self.gate(x), axis=-1)
        y = ops.stack([e(x) for e in self.experts], axis=1)
        return self.out((y * g.expand_dims(-1)).sum(axis=1))


class MTL(nn.Cell):
    def __init__(self):
        super().__init__()
        self.shared = MoE()
        self.t1 = nn.Dense(2, 1)
        self.t2 = nn.Dense(2, 1)

    def construct(self, x, a, b):
        s = self.shared(x)
        return ops.mse_loss(self.t1(s), a) + 0.5 * ops.l1_loss(self.t2(s), b)


net = MTL()
step = nn.TrainOneStepCell(net, nn.Adam(net.trainable_params(), 1e-3)).set_train()
for _ in range(2):
    print(step(data(5, 4), data(5, 1), data(5, 1, seed=4)))
