"""Cast: the same values in another dtype."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.dtypes import DType
from harness.errors import DtypeError
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import type_of
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


def _whole(x: Array, dtype: DType) -> Array:
    """Floating numbers as integers: cut towards 0 to 32 bits (64 for the wider dtypes and UInt32), then to the dtype;
    what does not fit, and NaN, is the smallest number of those bits (measured: ``tests/data/ops/edges.json``)."""
    if dtype.name == "UInt64":
        return x
    wide = x.astype(np.float64)
    bits = np.int64 if dtype.name in ("Int64", "UInt32") else np.int32
    limits = np.iinfo(bits)
    cut = np.trunc(wide)
    fits = (cut >= float(limits.min)) & (cut < -float(limits.min))
    return np.where(fits, cut, float(limits.min)).astype(bits).astype(dtype.numpy)


@operator
class Cast(Operator):
    """``x`` in the dtype (or the number of the dtype) that is argument 1; the conversion is the one rounding."""

    name = "Cast"
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        target = call.values[1]
        if isinstance(target, np.ndarray):
            target = type_of(target)
        if not isinstance(target, DType):
            raise DtypeError(f"{call.op}: a dtype is needed, got {target!r}")
        return TensorSpec(target, call.shape(0))

    def kernel(self, call: Call, x: Array, _dtype: Any) -> Array:
        dtype = call.outputs()[0].dtype
        if dtype.kind == "b":
            return np.not_equal(x, 0)
        if x.dtype.kind == "c" and dtype.kind != "c":
            x = np.real(x)
        return _whole(x, dtype) if dtype.kind in "iu" and x.dtype.kind not in "biu" else x

    def gradient(self, b: Backward) -> Sequence[Any]:
        return emit("Cast", b.dout, b.inputs[0].dtype), None
