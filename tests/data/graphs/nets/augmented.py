"""Gradients through values changed in place and through products with numbers, from two cells."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3) / 8 + 1)


class Added(nn.Cell):
    def construct(self, x):
        z = ops.exp(x)
        z += x
        return z * z


class Less(nn.Cell):
    def construct(self, x):
        z = ops.exp(x)
        z -= x
        return z


class Times(nn.Cell):
    def construct(self, x):
        z = ops.exp(x)
        z *= x
        return z


class Divided(nn.Cell):
    def construct(self, x):
        z = ops.exp(x)
        z /= x
        return z


class Floor(nn.Cell):
    def construct(self, x):
        z = ops.exp(x)
        z //= x
        return z * x


class Remainder(nn.Cell):
    def construct(self, x):
        z = ops.exp(x)
        z %= x
        return z


class FloorOfNumber(nn.Cell):
    def construct(self, x):
        z = ops.exp(x)
        z //= 2
        return z * x


class Doubled(nn.Cell):
    def construct(self, x):
        z = 2 * x
        return z * z


class Twice(nn.Cell):
    def construct(self, x):
        z = x * 2
        return z * z


class Chain(nn.Cell):
    """Two cells, one behind the other."""

    def __init__(self, first, second):
        super().__init__()
        self.a, self.b = first(), second()

    def construct(self, x):
        return self.b(self.a(x))


class Gradient(nn.Cell):
    def __init__(self, first, second):
        super().__init__()
        self.net = Chain(first, second)

    def construct(self, x):
        return ms.grad(self.net)(x)


for part in (Added, Less, Times, Divided, Floor, FloorOfNumber, Remainder, Doubled, Twice):
    Gradient(part, part)(x)
Gradient(Doubled, Twice)(x)
Gradient(Twice, Doubled)(x)
