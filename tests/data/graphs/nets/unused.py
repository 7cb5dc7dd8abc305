"""Weights that only unused results depend on, behind a normalisation: when their reads end, with and without decay."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.arange(12, dtype=np.float32).reshape(4, 3))
y = Tensor(np.ones((4, 3), np.float32))


class Net(nn.Cell):
    """Used and unused layers in turn."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)
        self.one = nn.Dense(3, 3, has_bias=False)
        self.two = nn.Dense(3, 3, has_bias=False)
        self.three = nn.Dense(3, 3)
        self.four = nn.Dense(3, 3, has_bias=False)
        self.five = nn.Dense(3, 3)

    def construct(self, x):
        x = self.norm(x)
        unused = self.one(x)
        unused = self.three(x) + unused
        unused = self.five(x)
        return self.four(self.two(x))


class Unused(Net):
    """Every layer unused."""

    def construct(self, x):
        x = self.norm(x)
        _first = self.three(self.two(self.one(x)))
        _second = self.five(self.four(x))
        return x


def train(net, rate, decay):
    optimizer = nn.Momentum(net.trainable_params(), rate, 0.9, weight_decay=decay)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer)
    step.set_train()
    step(x, y)


for kind, decay in (Net, 0.0), (Net, 0.1), (Unused, 0.1):
    train(kind(), 0.1, decay)
    train(kind(), nn.ExponentialDecayLR(0.1, 0.9, 2), decay)
