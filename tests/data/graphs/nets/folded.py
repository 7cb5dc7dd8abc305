"""Operators of constants alone, and operators on values that are changed in place later."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3) + 1)
row = Tensor(np.array([1, 2, 3], np.float32))
two = Tensor(np.array([2, 2, 2], np.float32))
zeros = Tensor(np.zeros((2, 3), np.float32))
one, half = Tensor(np.float32(0.3)), Tensor(np.float16(0.3))
alone, matrix = Tensor(np.ones(1, np.float32)), Tensor(np.ones((1, 1), np.float32))


class Constants(nn.Cell):
    def construct(self, x):
        return x + row.astype(ms.float16), x + ops.broadcast_to(row, (2, 3)), x - row / 2, x - ops.div(row, 4)


class Changed(nn.Cell):
    def construct(self, x):
        a = ops.exp(x).astype(ms.float32)
        a += x
        b = ops.cos(x).reshape((2, 3))
        b += x
        c = ops.sin(x) + zeros
        c += x
        return a, b, c


class Again(nn.Cell):
    def construct(self, x):
        z = x * 2
        z += x
        y = z * x
        z += x
        return y + z


class Computed(nn.Cell):
    def construct(self, x):
        x = x + ops.abs(row) + ops.log(row) + ops.sqrt(row) + ops.reciprocal(row)
        x = x + ops.minimum(row, two) + row.max() + row.min() + row.prod()
        x = x + ops.mean(row) + ops.reduce_sum(row) + ops.reduce_max(row, 0) + ops.reduce_min(row, 0)
        x = x + ops.softmax(zeros, 0) + ops.minimum(row, 2.0)
        for beside in (row < 2, row <= 2, row > 2, row >= 2, row == 2, row != 2):
            x = x + beside.astype(ms.float32)
        x = x + ops.cat((row, two)).sum() + ops.stack((row, two)).sum()
        for holds in (row > two, row >= two, row < two, row <= two, row == two, row != two):
            x = x + ops.select(holds, row, two)
        return x


class Single(nn.Cell):
    def construct(self, x):
        x = x * (one + one) * (one - 0.5) + (one + 0.1 + 0.1) + (alone + 1) * (1 - alone)
        for holds in (alone > 0, alone == one, matrix > 0, alone > one):
            x = x + holds.astype(ms.float32)
        x = x * (one == one) * (alone + matrix) + (matrix - one)
        return x * (half / half) * (one / one)


for net in (Constants, Changed, Again, Computed, Single):
    net()(x)
