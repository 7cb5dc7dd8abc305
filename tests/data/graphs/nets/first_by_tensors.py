"""Functions of two tensors first called in ``Default``, then in two cells; casts and squeezes by method alike."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.arange(9, dtype=np.float32).reshape(3, 3) / 8)
y = Tensor(np.arange(9, 18, dtype=np.float32).reshape(3, 3) / 8)
whole = Tensor(np.arange(6, dtype=np.int32).reshape(2, 1, 3))


def compared(x, y, whole):
    return ops.less(x, y), ops.clip(x, y, x), x.neg()


def halved(x, y, whole):
    return x.half(), y.sum(1, True)


def counted(x, y, whole):
    return x.int(), whole.squeeze()


def weighed(x, y, whole):
    return whole.float(), whole.squeeze(axis=1)


def judged(x, y, whole):
    return x.bool(), x[[0, 1]], y.max(), y.min()


class Inner(nn.Cell):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def construct(self, x, y, whole):
        return self.function(x, y, whole)


class Compared(nn.Cell):
    def construct(self, x, y, whole):
        return ops.less(x, y), ops.clip(x, y, x), x.neg()


class Halved(nn.Cell):
    def construct(self, x, y, whole):
        return x.half(), y.sum(1, True)


class Counted(nn.Cell):
    def construct(self, x, y, whole):
        return x.int(), whole.squeeze()


class Weighed(nn.Cell):
    def construct(self, x, y, whole):
        return whole.float(), whole.squeeze(axis=1)


class Judged(nn.Cell):
    def construct(self, x, y, whole):
        return x.bool(), x[[0, 1]], y.max(), y.min()


class Net(nn.Cell):
    def __init__(self, function, cell):
        super().__init__()
        self.function, self.one, self.two = function, cell(), cell()

    def construct(self, x, y, whole):
        first = self.function(x, y, whole)
        return first, self.one(x * 2, y * 2, whole * 2), self.two(x * 3, y * 3, whole * 3)


class Cells(nn.Cell):
    """No call in ``Default``."""

    def __init__(self, function, cell):
        super().__init__()
        self.one, self.two = cell(), Inner(function)

    def construct(self, x, y, whole):
        return self.one(x, y, whole), self.two(x * 2, y * 2, whole * 2)


for function, cell in (
    (compared, Compared), (halved, Halved), (counted, Counted), (weighed, Weighed), (judged, Judged),
):  # fmt: skip
    Net(function, cell)(x, y, whole)
    Cells(function, cell)(x, y, whole)
