"""Functions and methods first called in ``Default``, then in a cell: which of them move there, and which stay."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(3)
x = Tensor(np.arange(9, dtype=np.float32).reshape(3, 3) / 8)
y = Tensor(np.arange(9, 18, dtype=np.float32).reshape(3, 3) / 8)
whole = Tensor(np.arange(6, dtype=np.int32).reshape(2, 3))
place = Tensor(np.int32([1, 0]))
wide = Tensor(np.int32([[1, 0, 1]]))
whole2, place2 = Tensor(np.arange(6, 12, dtype=np.int32).reshape(2, 3)), Tensor(np.int32([0, 1]))
wide2 = Tensor(np.int32([[0, 1, 0]]))


class Inner0(nn.Cell):
    def construct(self, x, whole, place, wide):
        return (
            ops.argmax(x, 1),
            ops.chunk(x, 2, 0)[0],
            ops.concat((x, x)),
            ops.cumsum(x, 0),
            ops.div(x, x),
            ops.dot(x, x),
            ops.dropout(x, 0.5),
            ops.flatten(x),
        )


class Outer0(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Inner0()

    def construct(self, x, whole, place, wide, y, whole2, place2, wide2):
        first = (
            ops.argmax(x, 1),
            ops.chunk(x, 2, 0)[0],
            ops.concat((x, x)),
            ops.cumsum(x, 0),
            ops.div(x, x),
            ops.dot(x, x),
            ops.dropout(x, 0.5),
            ops.flatten(x),
        )
        return first, self.inner(y, whole2, place2, wide2)


class Inner1(nn.Cell):
    def construct(self, x, whole, place, wide):
        return (
            ops.matmul(x, x),
            ops.mean(x),
            ops.one_hot(place, 3, 1.0, 0.0),
            ops.pad(x, (0, 1)),
            ops.relu(x),
            ops.smooth_l1_loss(x, x),
            ops.split(x, 1)[0],
            ops.squeeze(x),
        )


class Outer1(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Inner1()

    def construct(self, x, whole, place, wide, y, whole2, place2, wide2):
        first = (
            ops.matmul(x, x),
            ops.mean(x),
            ops.one_hot(place, 3, 1.0, 0.0),
            ops.pad(x, (0, 1)),
            ops.relu(x),
            ops.smooth_l1_loss(x, x),
            ops.split(x, 1)[0],
            ops.squeeze(x),
        )
        return first, self.inner(y, whole2, place2, wide2)


class Inner2(nn.Cell):
    def construct(self, x, whole, place, wide):
        return (
            ops.std(x),
            ops.swapaxes(x, 0, 1),
            ops.topk(x, 2)[0],
            ops.unsqueeze(x, 1),
            x.T,
            x.any(),
            x.bool(),
            x.chunk(2, 0)[0],
        )


class Outer2(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Inner2()

    def construct(self, x, whole, place, wide, y, whole2, place2, wide2):
        first = (
            ops.std(x),
            ops.swapaxes(x, 0, 1),
            ops.topk(x, 2)[0],
            ops.unsqueeze(x, 1),
            x.T,
            x.any(),
            x.bool(),
            x.chunk(2, 0)[0],
        )
        return first, self.inner(y, whole2, place2, wide2)


class Inner3(nn.Cell):
    def construct(self, x, whole, place, wide):
        return (
            x.flatten(),
            whole.float(),
            x.gather_elements(0, wide),
            x.isnan(),
            x.mT,
            x.matmul(x),
            x.max(),
            x.mean(),
        )


class Outer3(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Inner3()

    def construct(self, x, whole, place, wide, y, whole2, place2, wide2):
        first = (
            x.flatten(),
            whole.float(),
            x.gather_elements(0, wide),
            x.isnan(),
            x.mT,
            x.matmul(x),
            x.max(),
            x.mean(),
        )
        return first, self.inner(y, whole2, place2, wide2)


class Inner4(nn.Cell):
    def construct(self, x, whole, place, wide):
        return (
            x.half(),
            x.min(),
            x.mul(x),
            x.sign(),
            x.split(1)[0],
            x.squeeze(),
            x.sum(),
            x.swapaxes(0, 1),
        )


class Outer4(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Inner4()

    def construct(self, x, whole, place, wide, y, whole2, place2, wide2):
        first = (
            x.half(),
            x.min(),
            x.mul(x),
            x.sign(),
            x.split(1)[0],
            x.squeeze(),
            x.sum(),
            x.swapaxes(0, 1),
        )
        return first, self.inner(y, whole2, place2, wide2)


class Inner5(nn.Cell):
    def construct(self, x, whole, place, wide):
        return (
            x.int(),
            x.topk(2)[0],
            x.unsqueeze(1),
            x.argmax(1),
            x.argmin(1),
            x.cumsum(0),
            ops.softmax(x, 1),
            ops.amax(x, 1),
        )


class Outer5(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Inner5()

    def construct(self, x, whole, place, wide, y, whole2, place2, wide2):
        first = (
            x.int(),
            x.topk(2)[0],
            x.unsqueeze(1),
            x.argmax(1),
            x.argmin(1),
            x.cumsum(0),
            ops.softmax(x, 1),
            ops.amax(x, 1),
        )
        return first, self.inner(y, whole2, place2, wide2)


class Inner6(nn.Cell):
    def construct(self, x, whole, place, wide):
        return (
            x.astype(ms.float16),
            ops.amin(x, 1),
            ops.argmin(x, 1),
            ops.max(x)[0],
            ops.min(x)[0],
            ops.sum(x),
            ops.logsumexp(x, 1),
            x.norm(),
        )


class Outer6(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Inner6()

    def construct(self, x, whole, place, wide, y, whole2, place2, wide2):
        first = (
            x.astype(ms.float16),
            ops.amin(x, 1),
            ops.argmin(x, 1),
            ops.max(x)[0],
            ops.min(x)[0],
            ops.sum(x),
            ops.logsumexp(x, 1),
            x.norm(),
        )
        return first, self.inner(y, whole2, place2, wide2)


class Inner7(nn.Cell):
    def construct(self, x, whole, place, wide):
        return (ops.less(x, 1.0),)


class Outer7(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Inner7()

    def construct(self, x, whole, place, wide, y, whole2, place2, wide2):
        first = (ops.less(x, 1.0),)
        return first, self.inner(y, whole2, place2, wide2)


for net in (
    Outer0,
    Outer1,
    Outer2,
    Outer3,
    Outer4,
    Outer5,
    Outer6,
    Outer7,
):
    net()(x, whole, place, wide, y, whole2, place2, wide2)
