"""Cells in a list, with a choice in each turn of the loop."""

from feed import data, train
from mindspore import nn


class Block(nn.Cell):
    def __init__(self, d, last=False):
        super().__init__()
        self.a = nn.Dense(d, d)
        self.b = None if last else nn.Dense(d, d)
        self.act = nn.GELU()

    def construct(self, x):
        h = self.act(self.a(x))
        if self.b is not None:
            h = self.b(h)
        return x + h


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.blocks = nn.CellList([Block(4), Block(4), Block(4, True)])
        self.head = nn.SequentialCell([nn.Dense(4, 3), nn.Softmax()])

    def construct(self, x):
        for i, block in enumerate(self.blocks):
            x = block(x) if i else block(x) * 2
        return self.head(x)


net = Net()
print(net(data(2, 4)))
train(net, nn.L1Loss(), nn.Momentum(net.trainable_params(), 0.01, 0.9), data(2, 4), data(2, 3), 2)
