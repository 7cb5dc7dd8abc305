"""Functions and methods called by position and by keyword, from cells inside cells; axes counted from the back."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.arange(8, dtype=np.float32).reshape(2, 4) / 4)


class Around(nn.Cell):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def construct(self, x):
        return ops.relu(self.inner(x))


class Joined(nn.Cell):
    def construct(self, x):
        return ops.cat((x, x), axis=-1), ops.cat((x, x, x), 1)


class Soft(nn.Cell):
    def construct(self, x):
        return ops.log_softmax(x, axis=-1) + ops.log_softmax(x, 0)


class Wide(nn.Cell):
    def construct(self, x):
        return ops.broadcast_to(x, shape=(3, 2, 4)), ops.broadcast_to(x, (5, 2, 4)), x.broadcast_to(shape=(7, 2, 4))


class All(nn.Cell):
    def construct(self, x):
        return ops.all(x > 0, axis=1), ops.all(x > 1, 1), ops.all(x > 2)


class Methods(nn.Cell):
    def construct(self, x):
        halves = x.to(dtype=ms.float16), x.round(decimals=0), x.triu(diagonal=1), x.pow(exponent=2)
        return halves, x.maximum(other=halves[1]), x.add(other=halves[2]), x.less(other=halves[3])


class Quotients(nn.Cell):
    def construct(self, x):
        return x.div(other=x + 1), x.div(x + 2, rounding_mode="floor"), x.minimum(x + 3)


class Pieces(nn.Cell):
    def construct(self, x):
        return ops.split(x, 2, axis=-1)[0], x.split(1, -2)[1], ops.chunk(x, 4, -1)[2]


class Both(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first, self.second = Around(Soft()), Around(Soft())

    def construct(self, x):
        return ops.cat([self.first(x), self.second(x * 2)], axis=-2)


for cell in (Joined(), Soft(), Wide(), All(), Methods(), Quotients(), Pieces(), Both()):
    cell(x)


class Nested(nn.Cell):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def construct(self, x):
        return self.inner(x)


for cell in (Joined(), Wide(), All(), Methods(), Quotients(), Pieces()):
    Nested(cell)(x)
ms.grad(Both())(x)
