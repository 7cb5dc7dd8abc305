"""Methods that a cell names in front of what a cell inside it calls first: functions, looked up there."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.arange(9, dtype=np.float32).reshape(3, 3) / 8)
y = Tensor(np.arange(9, 18, dtype=np.float32).reshape(3, 3) / 8)
whole = Tensor(np.arange(6, dtype=np.int32).reshape(2, 3))
place = Tensor(np.int32([1, 0]))


class Net(nn.Cell):
    def __init__(self, around):
        super().__init__()
        self.around = around

    def construct(self, x, y, whole, place):
        return self.around(x, y, whole, place)


class Inner0(nn.Cell):
    def construct(self, x, place):
        return (
            ops.matmul(x, x),
            ops.max(x)[0],
            ops.min(x)[0],
            ops.permute(x, (1, 0)),
            ops.pow(x, 2.0),
            ops.sort(x)[0],
            ops.split(x, 1)[0],
            ops.squeeze(x),
            ops.sub(x, x),
        )


class Around0(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Inner0()

    def construct(self, x, y, whole, place):
        behind = self.inner(x, place)
        return (
            y.matmul(y),
            y.max(),
            y.min(),
            y.permute(1, 0),
            y.pow(2.0),
            y.sort()[0],
            y.split(1)[0],
            y.squeeze(),
            y.sub(y),
            behind,
        )


class Inner1(nn.Cell):
    def construct(self, x, place):
        return (
            ops.swapaxes(x, 0, 1),
            ops.tile(x, (2, 1)),
            ops.cast(x, ms.int32),
            ops.greater(x, 1.0),
            ops.neg(x),
            ops.clamp(x, 0.0, 1.0),
        )


class Around1(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Inner1()

    def construct(self, x, y, whole, place):
        behind = self.inner(x, place)
        return (
            y.swapaxes(0, 1),
            y.tile((2, 1)),
            whole.float(),
            y > 1.0,
            -y,
            ops.clip(y, 0.0, 1.0),
            behind,
        )


class Inner2(nn.Cell):
    def construct(self, x, place):
        return (
            ops.cast(x, ms.int32),
            ops.swapaxes(x, 0, 1),
        )


class Around2(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Inner2()

    def construct(self, x, y, whole, place):
        behind = self.inner(x, place)
        return (
            y.half(),
            ops.swapdims(y, 0, 1),
            behind,
        )


class Inner3(nn.Cell):
    def construct(self, x, place):
        return (ops.cast(x, ms.float16),)


class Around3(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Inner3()

    def construct(self, x, y, whole, place):
        behind = self.inner(x, place)
        return (
            y.int(),
            behind,
        )


for around in (
    Around0,
    Around1,
    Around2,
    Around3,
):
    Net(around())(x, y, whole, place)
