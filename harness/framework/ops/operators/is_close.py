"""IsClose and NanToNum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness import dtypes
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.elementwise import Binary, Unary
from harness.framework.ops.expansion import cast
from harness.framework.tensor import call as emit


@operator
class IsClose(Binary):
    """x, y, rtol, atol, equal_nan: whether ``|x - y| <= atol + rtol * |y|``; equal infinities are close."""

    name = "IsClose"
    result = dtypes.bool_

    def kernel(self, call: Call, x: Array, y: Array, rtol: float, atol: float, equal_nan: bool) -> Array:
        return np.isclose(numerics.wide(x), numerics.wide(y), rtol, atol, equal_nan)


@operator
class NanToNum(Unary):
    """x, nan, posinf, neginf: what stands for each; None for 0, the largest and the smallest number."""

    name = "NanToNum"

    def kernel(self, call: Call, x: Array, nan: Any, posinf: Any, neginf: Any) -> Array:
        if x.dtype.kind in "iu":
            return x
        limits = np.finfo(x.dtype) if x.dtype.kind == "f" else np.finfo(np.float32)
        high, low = float(limits.max) if posinf is None else posinf, float(limits.min) if neginf is None else neginf
        return np.nan_to_num(numerics.wide(x), nan=0.0 if nan is None else nan, posinf=high, neginf=low)

    def gradient(self, b: Backward) -> Sequence[Any]:
        finite = cast(emit("IsFinite", b.inputs[0]), b.dout.dtype)
        return emit("Mul", b.dout, finite), None, None, None
