"""Functions first called in ``Default``, then in two cells, with tensors of one shape."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.arange(9, dtype=np.float32).reshape(3, 3) / 8)
y = Tensor(np.arange(9, 18, dtype=np.float32).reshape(3, 3) / 8)
whole = Tensor(np.arange(6, dtype=np.int32).reshape(2, 3))
place = Tensor(np.int32([1, 0]))
others, more = y, Tensor(np.ones((3, 3), np.float32))
whole2, whole3 = (
    Tensor(np.arange(6, 12, dtype=np.int32).reshape(2, 3)),
    Tensor(np.arange(2, 8, dtype=np.int32).reshape(2, 3)),
)
place2, place3 = Tensor(np.int32([0, 1])), Tensor(np.int32([1, 1]))


class Inner0(nn.Cell):
    def construct(self, x, whole, place):
        return (
            ops.pad(x, (0, 1)),
            ops.relu(x),
            ops.one_hot(place, 3, 1.0, 0.0),
            ops.sum(x),
            ops.chunk(x, 2, 0)[0],
            ops.squeeze(x),
            x.any(),
            ops.max(x)[0],
            ops.min(x)[0],
        )


class Outer0(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Inner0()
        self.other = Inner0()

    def construct(self, x, whole, place, others, whole2, place2, more, whole3, place3):
        first = (
            ops.pad(x, (0, 1)),
            ops.relu(x),
            ops.one_hot(place, 3, 1.0, 0.0),
            ops.sum(x),
            ops.chunk(x, 2, 0)[0],
            ops.squeeze(x),
            x.any(),
            ops.max(x)[0],
            ops.min(x)[0],
        )
        return first, self.inner(others, whole2, place2), self.other(more, whole3, place3)


class Inner1(nn.Cell):
    def construct(self, x, whole, place):
        return (
            ops.mean(x),
            ops.argmin(x, 1),
            ops.amax(x, 1),
            ops.amin(x, 1),
            ops.sum(x > 1.5),
            ops.max(x, 1, True)[0],
            whole.any(),
            ops.chunk(x, 3, 1)[1],
        )


class Outer1(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Inner1()
        self.other = Inner1()

    def construct(self, x, whole, place, others, whole2, place2, more, whole3, place3):
        first = (
            ops.mean(x),
            ops.argmin(x, 1),
            ops.amax(x, 1),
            ops.amin(x, 1),
            ops.sum(x > 1.5),
            ops.max(x, 1, True)[0],
            whole.any(),
            ops.chunk(x, 3, 1)[1],
        )
        return first, self.inner(others, whole2, place2), self.other(more, whole3, place3)


class Inner2(nn.Cell):
    def construct(self, x, whole, place):
        return (
            ops.amax(whole, 0),
            ops.mean(x, 0, True),
        )


class Outer2(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Inner2()
        self.other = Inner2()

    def construct(self, x, whole, place, others, whole2, place2, more, whole3, place3):
        first = (
            ops.amax(whole, 0),
            ops.mean(x, 0, True),
        )
        return first, self.inner(others, whole2, place2), self.other(more, whole3, place3)


for net in (
    Outer0,
    Outer1,
    Outer2,
):
    net()(x, whole, place, others, whole2, place2, more, whole3, place3)
