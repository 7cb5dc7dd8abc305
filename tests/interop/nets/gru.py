"""A GRU."""

from feed import data
from mindspore import nn


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(4, 5, batch_first=True)
        self.fc = nn.Dense(5, 2)

    def construct(self, x):
        y, _ = self.rnn(x)
        return self.fc(y[:, -1])


print(Net()(data(2, 3, 4)))
