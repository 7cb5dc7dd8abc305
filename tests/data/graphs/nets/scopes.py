"""Scopes: cells in cells, lists of cells, a cell used twice, functions called from several cells."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
y = Tensor(np.full((2, 3), 2, np.float32))


def helper(x, y):
    return ops.exp(x) * y


class Part(nn.Cell):
    """Operators, methods and functions that keep or share their scope."""

    def construct(self, x, y):
        total = x + y, x - y, x * y, x > y, -x, x.sum(0), x.reshape((3, 2)), ops.relu(x), ops.softmax(x)
        return *total, helper(x, y), ops.add(x, y), x[0], x == y, x.astype(ms.float16), x.transpose((1, 0)), x**2


class Two(nn.Cell):
    """The same part twice, as two objects."""

    def __init__(self):
        super().__init__()
        self.p = Part()
        self.q = Part()

    def construct(self, x, y):
        return self.p(x, y), self.q(y, x)


class Shared(nn.Cell):
    """One object under two names."""

    def __init__(self):
        super().__init__()
        self.first = nn.Tanh()
        self.second = self.first
        self.plain = ops.Exp()

    def construct(self, x, y):
        return self.second(x) + self.first(y) + self.plain(x)


class Nested(nn.Cell):
    """Cells in containers."""

    def __init__(self):
        super().__init__()
        self.body = nn.SequentialCell(nn.Tanh(), nn.SequentialCell(nn.Sigmoid(), nn.ReLU()), nn.Dense(3, 3))
        self.more = nn.CellList([nn.Dense(3, 3, has_bias=False), nn.Tanh()])

    def construct(self, x, y):
        x = self.body(x)
        for cell in self.more:
            x = cell(x)
        return x * self.more[1](y)


Two()(x, y)
Shared()(x, y)
Nested()(x, y)
Part()(x, y)
