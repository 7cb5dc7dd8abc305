"""Whose scope a gradient stands in: calls that nothing uses, calls by keyword, values that loops see."""

import itertools

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(1)
x = Tensor(np.arange(24, dtype=np.float32).reshape(6, 4) / 8)


class Idle(nn.Cell):
    """A layer whose result nothing uses, before a loop."""

    def __init__(self):
        super().__init__()
        self.idle = nn.Dense(4, 4, weight_init="ones")
        self.last = nn.Dense(4, 3, weight_init="ones")

    def construct(self, x):
        _ = self.idle(x)
        for _i in range(2):
            x = ops.gelu(x)
        return self.last(x)


class Square(nn.Cell):
    def construct(self, x):
        return x * x


class Keyword(nn.Cell):
    """A function called by keyword behind a layer."""

    def __init__(self):
        super().__init__()
        self.square = Square()
        self.first = nn.Dense(4, 4, weight_init="ones")
        self.last = nn.Dense(4, 3, weight_init="ones")

    def construct(self, x):
        return self.last(ops.leaky_relu(self.first(self.square(x)), alpha=0.3))


class Hyperbolic(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4, 4, weight_init="ones")

    def construct(self, x):
        return self.dense(ops.tanh(x))


class Chain(nn.Cell):
    def __init__(self):
        super().__init__()
        self.chain = nn.CellList([nn.Tanh(), nn.ReLU()])

    def construct(self, x, y):
        for cell in self.chain:
            y = cell(y)
        return x + y


class Seen(nn.Cell):
    """A value from before a loop that the loop does not change, used behind it."""

    def __init__(self):
        super().__init__()
        self.first = Hyperbolic()
        self.chain = Chain()

    def construct(self, x):
        x = self.first(x)
        y = x
        for _i in range(3):
            y = ops.hardswish(y)
        return self.chain(x, y)


class Both(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4, 3, weight_init="ones")

    def construct(self, x):
        y = ops.exp(x)
        return y, self.dense(y)


class Picked(nn.Cell):
    """One of two results of a cell."""

    def __init__(self):
        super().__init__()
        self.both = Both()

    def construct(self, x):
        _, y = self.both(ops.exp(x * 0.1))
        return y


for make, loss in itertools.product((Idle, Keyword, Seen, Picked), (nn.MSELoss, nn.CrossEntropyLoss)):
    net = make()
    ones = np.ones((6, 4 if make is Seen else 3), np.float32)
    label = Tensor(ones if loss is nn.MSELoss else np.arange(6, dtype=np.int32) % 3)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss()), nn.SGD(net.trainable_params(), learning_rate=0.1))
    step.set_train()
    step(x, label)
