"""MindSpore's ``numpy`` namespace: the names and rules of numpy, computed by ``ops``; ``promotion`` has its dtypes."""

from harness.dtypes import (
    bool_,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from harness.framework.names import fallback as _fallback
from harness.framework.numpy import create as _create
from harness.framework.numpy import divisors as _divisors
from harness.framework.numpy import functional as _functional
from harness.framework.numpy import grids as _grids
from harness.framework.numpy import indices as _indices
from harness.framework.numpy import linear as _linear
from harness.framework.numpy import maths as _maths
from harness.framework.numpy import reductions as _reductions
from harness.framework.numpy import shapes as _shapes
from harness.framework.numpy import signals as _signals
from harness.framework.numpy import statistics as _statistics

inf, nan, pi, newaxis = float("inf"), float("nan"), 3.141592653589793, None
int_, float_ = int32, float32

__all__ = [
    "bool_",
    "float16",
    "float32",
    "float64",
    "float_",
    "inf",
    "int8",
    "int16",
    "int32",
    "int64",
    "int_",
    "nan",
    "newaxis",
    "pi",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]  # fmt: skip
for _module in (
    _create, _maths, _reductions, _shapes, _signals, _divisors, _functional, _grids, _indices, _linear, _statistics,
):  # fmt: skip
    for _name in _module.__all__:
        globals()[_name] = getattr(_module, _name)
        __all__ += [_name]

__getattr__ = _fallback(__name__)
