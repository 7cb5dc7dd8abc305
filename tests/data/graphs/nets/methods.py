"""Methods and Python's operators called from two cells: whether each stands where it is called."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3) / 8 + 1)
y = Tensor(np.full((2, 3), 2, np.float32))


class Operators(nn.Cell):
    def construct(self, x, y):
        return x // y, x >= y, x <= y, x / y, 2 // x, 2 * x, 2**x, 2 - x, 2 / x, x[0]


class Rows(nn.Cell):
    def construct(self, x, y):
        return x[0:1], x[:, 0]


class InPlace(nn.Cell):
    def construct(self, x, y):
        a, b, c = ops.zeros((2, 3), ms.float32), ops.ones((2, 3), ms.float32), ops.full((2, 3), 2.0, dtype=ms.float32)
        a += y
        b //= y
        c %= y
        return a, b, c


class InPlaceToo(nn.Cell):
    def construct(self, x, y):
        a, b, c = ops.zeros_like(x), x + y, x - y
        a *= y
        b -= y
        c /= y
        return a, b, c


class Curves(nn.Cell):
    def construct(self, x, y):
        return x.abs(), x.cos(), x.erf(), x.exp(), x.expm1(), x.log(), x.sigmoid(), x.sin(), x.sinh(), x.tan(), x.tanh()


class Roots(nn.Cell):
    def construct(self, x, y):
        numbers = x.ceil(), x.floor(), x.trunc(), x.neg(), x.reciprocal(), x.rsqrt(), x.sqrt(), x.square()
        return numbers, x.minimum(y), x.std(), (x + y).var(), x.view(3, 2)


class Comparisons(nn.Cell):
    def construct(self, x, y):
        z = x + y
        true = x.greater(y), z.gt(y), x.le(y), z.less_equal(y), x.lt(y), x.ne(y), z.not_equal(y)
        return true, true[0].logical_not()


class Two(nn.Cell):
    """A cell twice, as two objects."""

    def __init__(self, first, second):
        super().__init__()
        self.a = first
        self.b = second

    def construct(self, x, y):
        return self.a(x, y), self.b(y, x)


for cell in (Operators, InPlace, InPlaceToo, Curves, Roots, Comparisons):
    Two(cell(), cell())(x, y)
Two(Operators(), Rows())(x, y)
