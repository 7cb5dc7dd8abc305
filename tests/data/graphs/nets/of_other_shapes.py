"""Functions and methods first called in ``Default``, then in a cell with tensors of other shapes."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.arange(9, dtype=np.float32).reshape(3, 3) / 8)
y = Tensor(np.arange(9, 18, dtype=np.float32).reshape(3, 3) / 8)
whole = Tensor(np.arange(6, dtype=np.int32).reshape(2, 3))
place = Tensor(np.int32([1, 0]))
others = Tensor(np.arange(4, dtype=np.float32).reshape(2, 2))
whole2, place2 = Tensor(np.int32([5, 6])), Tensor(np.int32([1, 0, 2]))


class Inner0(nn.Cell):
    def construct(self, x, whole, place):
        return (
            ops.relu(x),
            ops.matmul(x, x),
            x.squeeze(),
            x.T,
            x.sum(),
            ops.pad(x, (0, 1)),
            x.half(),
            x.min(),
            ops.one_hot(place, 3, 1.0, 0.0),
        )


class Outer0(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Inner0()
        self.other = Inner0()

    def construct(self, x, whole, place, others, whole2, place2):
        first = (
            ops.relu(x),
            ops.matmul(x, x),
            x.squeeze(),
            x.T,
            x.sum(),
            ops.pad(x, (0, 1)),
            x.half(),
            x.min(),
            ops.one_hot(place, 3, 1.0, 0.0),
        )
        return first, self.inner(others, whole2, place2)


class Inner1(nn.Cell):
    def construct(self, x, whole, place):
        return (
            ops.squeeze(x),
            x.matmul(x),
            whole.float(),
            x.max(),
            x.chunk(2, 0)[0],
            x.bool(),
            ops.mean(x),
            x.any(),
        )


class Outer1(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Inner1()
        self.other = Inner1()

    def construct(self, x, whole, place, others, whole2, place2):
        first = (
            ops.squeeze(x),
            x.matmul(x),
            whole.float(),
            x.max(),
            x.chunk(2, 0)[0],
            x.bool(),
            ops.mean(x),
            x.any(),
        )
        return first, self.inner(others, whole2, place2)


class Inner2(nn.Cell):
    def construct(self, x, whole, place):
        return (
            ops.chunk(x, 2, 0)[0],
            x.int(),
            x.mean(),
        )


class Outer2(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Inner2()
        self.other = Inner2()

    def construct(self, x, whole, place, others, whole2, place2):
        first = (
            ops.chunk(x, 2, 0)[0],
            x.int(),
            x.mean(),
        )
        return first, self.inner(others, whole2, place2)


for net in (
    Outer0,
    Outer1,
    Outer2,
):
    net()(x, whole, place, others, whole2, place2)
