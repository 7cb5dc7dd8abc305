"""Trained networks: gradients of functions that shrink, and of what ``broadcast_to`` was given, stand in ``Default``
though a cell called the function."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.arange(1, 33, dtype=np.float32).reshape(8, 4) / 16)
labels = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3) / 8)


class Hard(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = nn.Dense(4, 4, activation=nn.ReLU())
        self.last = nn.Dense(16, 3)
        self.weight = ms.Parameter(Tensor(np.ones(4, np.float32)), name="weight")

    def construct(self, x):
        return self.last(ops.hardshrink(self.first(x)).reshape((2, 16)))


class Soft(Hard):
    def construct(self, x):
        return self.last(ops.softshrink(self.first(x)).reshape((2, 16)))


class Broad(Hard):
    def construct(self, x):
        return self.last(ops.broadcast_to(self.first(x).sum(0) + self.weight, (8, 4)).reshape((2, 16)))


class Expanded(Hard):
    def construct(self, x):
        return self.last((self.first(x).sum(0) + self.weight).broadcast_to((8, 4)).reshape((2, 16)))


for network in (Hard, Soft, Broad, Expanded):
    net = network()
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer).set_train()(x, labels)
