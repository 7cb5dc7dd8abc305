"""Functions and methods of the user."""

from feed import data, train
from mindspore import nn


def scale(x, k):
    return x * k + 1


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(4, 4)
        self.inner = nn.SequentialCell(nn.Dense(4, 4), nn.Tanh())

    def twice(self, x):
        return scale(self.fc(x), 2.0)

    def construct(self, x):
        return scale(self.twice(self.inner(x)), 0.5)


net = Net()
print(net(data(2, 4)))
train(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1), data(2, 4), data(2, 4, seed=3), 2)
