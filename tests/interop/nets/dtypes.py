"""Element types: ``dtypes.py cast|arith|special``."""

import sys

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_device("CPU")


class Casts(nn.Cell):
    def __init__(self, dtypes):
        super().__init__()
        self.dtypes = dtypes

    def construct(self, x):
        outs = ()
        for dtype in self.dtypes:
            outs = outs + (ops.cast(x, dtype),)  # noqa: RUF005  (MindSpore does not parse a star here)
        return outs


class Arithmetic(nn.Cell):
    def construct(self, h, i8, i64, b, bf):
        return h * h, i8 + i8, i64 * i64, ops.logical_not(b), ops.cast(bf, ms.float32), bf + bf


class Special(nn.Cell):
    def construct(self, c, d):
        return c + d, c / d, ops.isnan(c), ops.sqrt(c)


if sys.argv[1] == "cast":
    kinds = (
        ms.bool_, ms.int8, ms.int16, ms.int32, ms.int64, ms.uint8, ms.uint16, ms.uint32, ms.uint64,
        ms.float16, ms.float32, ms.float64, ms.bfloat16,
    )  # fmt: skip
    Casts(kinds)(Tensor(np.array([0, 1.5, 3]), ms.float64))
elif sys.argv[1] == "arith":
    Arithmetic()(
        Tensor([1.5, 2.5], ms.float16), Tensor([1, 2], ms.int8), Tensor([3, 4], ms.int64), Tensor([True, False]),
        Tensor([1.5, 3.14], ms.bfloat16),
    )  # fmt: skip
else:
    c = np.array([np.nan, np.inf, -np.inf, 0, -0.0, -1, 1e-45], np.float32)
    Special()(Tensor(c), Tensor(np.array([1, 0, 0, 0, 1, 2, 3], np.float32)))
