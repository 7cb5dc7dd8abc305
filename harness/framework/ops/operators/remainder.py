"""Remainders: FloorMod, and the forms Tensor % takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.broadcast import reduce_to
from harness.framework.ops.eager import is_number, promote
from harness.framework.ops.elementwise import Binary, as_result, common_dtype
from harness.framework.ops.expansion import Composite, beside, cast
from harness.framework.tensor import call as emit


def lowest(x: Array) -> int:
    """What an integer remainder over zero gives: NaN converted, the lowest value of a signed dtype (measured)."""
    return -(2 ** (8 * x.dtype.itemsize - 1)) if x.dtype.kind == "i" else 0


@operator
class FloorMod(Binary):
    """x - floor(x / y) * y: the sign is that of y; NaN for an infinite y."""

    name = "FloorMod"
    accepts = "biuf"

    def kernel(self, call: Call, x: Array, y: Array) -> Array:
        x, y = as_result(call, x, y)
        if x.dtype.kind in "iub":
            return np.where((y == 0) & (x.dtype.itemsize >= 4), lowest(x), np.mod(x, y)).astype(x.dtype)
        # how the CPU's x - floor(x / y) * y differs from the remainder: no negative zero, NaN beside inf
        return np.where(np.isinf(y), np.nan, np.mod(x, y) + 0.0)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, y = b.inputs
        dy = emit("Mul", emit("Neg", b.dout), emit("FloorDiv", x, y)) if b.needs[1] else None
        return reduce_to(b.dout, x), reduce_to(dy, y)


class _Remainder(Composite):
    """x % y with one of them perhaps a number."""

    def expand(self, x: Any, y: Any) -> Any:
        if is_number(y):
            x, y = beside(x, y)
        elif is_number(x):
            y, x = beside(y, x)
        else:
            dtype = promote([x.dtype, y.dtype])
            x, y = cast(x, dtype), cast(y, dtype)
        return emit("FloorMod", x, y)


@operator
class RemainderTensorTensor(_Remainder):
    """Tensor % tensor."""

    name = "RemainderTensorTensor"
    tensors = (0, 1)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, y = b.inputs
        dy = emit("Mul", emit("Neg", b.dout), emit("DivMod", x, y, "floor")) if b.needs[1] else None
        return reduce_to(b.dout, x), reduce_to(dy, y)


@operator
class RemainderTensorScalar(_Remainder):
    """Tensor % number."""

    name = "RemainderTensorScalar"
    tensors = (0,)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return reduce_to(b.dout, b.inputs[0]), None


@operator
class RemainderScalarTensor(_Remainder):
    """Number % tensor; MindSpore gives it no gradient."""

    name = "RemainderScalarTensor"
    tensors = (1,)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return None, None


@operator
class DivMod(Composite):
    """x / y, rounded as argument 2 says: None, ``floor`` or ``trunc``."""

    name = "DivMod"
    tensors = (0, 1)

    def expand(self, x: Any, y: Any, rounding: str | None) -> Any:
        if rounding == "floor":
            return emit("FloorDiv", x, y)
        quotient = emit("Div", x, y)
        if rounding != "trunc":
            return quotient
        whole, own = emit("Trunc", quotient), common_dtype(x, y)
        return emit("Cast", whole, own) if own.kind in "iu" else whole

    def gradient(self, b: Backward) -> Sequence[Any]:
        return None, None, None
