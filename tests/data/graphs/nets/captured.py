"""A function written inside ``construct`` that uses a value computed there, beside layers with weights."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)


def centred(x):
    y = ops.mul(x, 2.0)
    return y - y.mean()


class Captured(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = nn.Dense(4, 3, activation="tanh")
        self.last = nn.Dense(12, 3)

    def construct(self, x):
        x = self.first(x)
        x = ops.hstack((x, x))
        y = centred(x)

        def inner(given):
            return ops.tanhshrink(given) + y

        return self.last(inner(y).reshape((2, 12)))


class Alone(nn.Cell):
    """The same with an argument in place of the value."""

    def __init__(self):
        super().__init__()
        self.first = nn.Dense(4, 3, activation="tanh")
        self.last = nn.Dense(12, 3)

    def construct(self, x):
        x = self.first(x)
        x = ops.hstack((x, x))
        y = centred(x)

        def inner(given, other):
            return ops.tanhshrink(given) + other

        return self.last(inner(y, y).reshape((2, 12)))


for network in (Captured(), Alone()):
    optimizer = nn.SGD(network.trainable_params(), learning_rate=0.1)
    step = nn.TrainOneStepCell(nn.WithLossCell(network, nn.CrossEntropyLoss()), optimizer).set_train()
    step(Tensor(np.linspace(-1, 2, 16).reshape((2, 2, 4)).astype(np.float32)), Tensor(np.array([0, 2], np.int32)))
