"""Methods and functions whose operator stands in another function, which another cell called before."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.arange(9, dtype=np.float32).reshape(3, 3) / 8)
y = Tensor(np.arange(9, 18, dtype=np.float32).reshape(3, 3) / 8)
whole = Tensor(np.arange(6, dtype=np.int32).reshape(2, 3))
place = Tensor(np.int32([1, 0]))


class Net(nn.Cell):
    def __init__(self, before, behind):
        super().__init__()
        self.before = before
        self.behind = behind

    def construct(self, x, y, whole, place):
        return self.before(x, place), self.behind(y, whole, place)


class Before0(nn.Cell):
    def construct(self, x, place):
        return (
            ops.amax(x, 1),
            ops.amin(x, 1),
            ops.argmax(x, 1),
            ops.argmin(x, 1),
            ops.asinh(x),
            ops.atan(x),
            ops.chunk(x, 2, 0)[0],
            ops.cumsum(x, 0),
        )


class Behind0(nn.Cell):
    def construct(self, y, whole, place):
        return (
            y.amax(1),
            y.amin(1),
            y.argmax(1),
            y.argmin(1),
            y.asinh(),
            y.atan(),
            y.chunk(2, 0)[0],
            y.cumsum(0),
        )


class Before1(nn.Cell):
    def construct(self, x, place):
        return (
            ops.flatten(x),
            ops.index_select(x, 0, place),
            ops.matmul(x, x),
            ops.max(x)[0],
            ops.min(x)[0],
            ops.moveaxis(x, 0, 1),
            ops.multiply(x, x),
            ops.neg(x),
        )


class Behind1(nn.Cell):
    def construct(self, y, whole, place):
        return (
            y.flatten(),
            y.index_select(0, place),
            y.matmul(y),
            y.max(),
            y.min(),
            y.moveaxis(0, 1),
            y.multiply(y),
            y.neg(),
        )


class Before2(nn.Cell):
    def construct(self, x, place):
        return (
            ops.permute(x, (1, 0)),
            ops.pow(x, 2.0),
            ops.sort(x)[0],
            ops.split(x, 1)[0],
            ops.squeeze(x),
            ops.sub(x, x),
            ops.swapaxes(x, 0, 1),
            ops.tile(x, (2, 1)),
        )


class Behind2(nn.Cell):
    def construct(self, y, whole, place):
        return (
            y.permute(1, 0),
            y.pow(2.0),
            y.sort()[0],
            y.split(1)[0],
            y.squeeze(),
            y.sub(y),
            y.swapaxes(0, 1),
            y.tile((2, 1)),
        )


class Before3(nn.Cell):
    def construct(self, x, place):
        return (
            ops.topk(x, 2)[0],
            ops.transpose(x, (1, 0)),
            ops.tril(x),
            ops.greater(x, 1.0),
            ops.neg(x),
            ops.add(x, x),
            ops.cast(x, ms.int32),
            ops.expand_dims(x, 0),
        )


class Behind3(nn.Cell):
    def construct(self, y, whole, place):
        return (
            y.topk(2)[0],
            y.transpose(1, 0),
            y.tril(),
            y > 1.0,
            -y,
            y.add(y),
            whole.float(),
            y.unsqueeze(1),
        )


class Before4(nn.Cell):
    def construct(self, x, place):
        return (
            ops.transpose(x, (1, 0)),
            ops.cast(x, ms.int32),
            ops.expand_dims(x, 0),
            ops.clamp(x, 0.0, 1.0),
            ops.div(x, x),
            ops.swapaxes(x, 0, 1),
        )


class Behind4(nn.Cell):
    def construct(self, y, whole, place):
        return (
            y.T,
            y.half(),
            ops.unsqueeze(y, 1),
            ops.clip(y, 0.0, 1.0),
            ops.divide(y, y),
            ops.swapdims(y, 0, 1),
        )


class Before5(nn.Cell):
    def construct(self, x, place):
        return (
            ops.cast(x, ms.float16),
            ops.div(x, x),
        )


class Behind5(nn.Cell):
    def construct(self, y, whole, place):
        return (
            y.int(),
            ops.true_divide(y, y),
        )


for before, behind in (
    (Before0(), Behind0()),
    (Before1(), Behind1()),
    (Before2(), Behind2()),
    (Before3(), Behind3()),
    (Before4(), Behind4()),
    (Before5(), Behind5()),
):
    Net(before, behind)(x, y, whole, place)
