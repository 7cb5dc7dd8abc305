"""Argmax and Argmin, and their forms that give the value too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from harness import dtypes
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.elementwise import is_wide
from harness.framework.ops.expansion import Composite
from harness.framework.ops.operators.inplace import zeros
from harness.framework.ops.reduce import reduced
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec, TupleSpec


class _Place(Operator):
    """Arguments: tensor, axis, number of the result's dtype (34 Int32, 35 Int64). The first of equal ones."""

    tensors = (0,)
    sign: ClassVar[int]

    def infer(self, call: Call) -> Spec:
        axis = along(call)
        dtype = {34: dtypes.int32, 35: dtypes.int64}.get(call.values[2])
        if dtype is None:
            raise call.fail(f"the result may be Int32 (34) or Int64 (35), not {call.values[2]}")
        return TensorSpec(dtype, reduced(call.shape(0), (axis,), False))

    def kernel(self, call: Call, x: Array, axis: int, _dtype: int) -> Array:
        return place(x, axis, self.sign)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return None, None, None


@operator
class Argmax(_Place):
    """The index of the largest element."""

    name = "Argmax"
    sign = 1


def as_numbers(x: Any) -> Any:
    """``x``; bools as Int32, as MindSpore 2.10.0 casts them for ``argmax`` (recorded: ``function_graphs.json``)."""
    return emit("Cast", x, dtypes.int32) if x.dtype is dtypes.bool_ else x


@operator
class ArgMaxExt(Composite):
    """The index of the largest element along argument 1 (None: of the flat tensor, where argument 2, keep_dims, has no
    effect, as in MindSpore)."""

    name = "ArgMaxExt"
    tensors = (0,)

    def expand(self, x: Any, axis: Any, keep: bool) -> Any:
        x = as_numbers(x)
        if axis is None:
            return emit("Argmax", emit("Reshape", x, (-1,)), 0, 35)
        at = emit("Argmax", x, axis, 35)
        return emit("ExpandDims", at, axis) if keep else at

    def gradient(self, b: Backward) -> Sequence[Any]:
        return None, None, None


@operator
class Argmin(_Place):
    """The index of the smallest element."""

    name = "Argmin"
    sign = -1


class _PlaceAndValue(Operator):
    """Arguments: tensor, axis, keep_dims. Gives the index (Int64) and the value, in the order of ``index_at``."""

    tensors = (0,)
    sign: ClassVar[int]
    index_at: ClassVar[int] = 0

    def infer(self, call: Call) -> Spec:
        shape = reduced(call.shape(0), (along(call),) if call.shape(0) else (), bool(call.values[2]))
        return TupleSpec(self._ordered(TensorSpec(dtypes.int64, shape), TensorSpec(call.dtype(0), shape)))

    def _ordered(self, index: Any, value: Any) -> tuple[Any, Any]:
        return (value, index) if self.index_at else (index, value)

    def kernel(self, call: Call, x: Array, axis: int, keep: bool) -> tuple[Array, Array]:
        if not x.ndim:
            return self._ordered(np.zeros((), np.int64), x)
        at = np.expand_dims(place(x, axis, self.sign), axis)
        value = np.take_along_axis(x, at, axis)
        return self._ordered(*(at, value) if keep else (at.squeeze(axis), value.squeeze(axis)))

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, axis, keep = b.inputs
        index, dout = b.out[self.index_at], b.dout[1 - self.index_at]
        start = zeros(tuple(x.shape), x.dtype)
        if not keep:
            index, dout = emit("ExpandDims", index, axis), emit("ExpandDims", dout, axis)
        return emit("InplaceScatterSrc", start, axis, index, dout), None, None


@operator
class ArgMaxWithValue(_PlaceAndValue):
    """The largest."""

    name = "ArgMaxWithValue"
    sign = 1


@operator
class ArgMinWithValue(_PlaceAndValue):
    """The smallest."""

    name = "ArgMinWithValue"
    sign = -1


@operator
class MaxDim(_PlaceAndValue):
    """The largest, and where it is."""

    name = "MaxDim"
    sign, index_at = 1, 1


@operator
class MinDim(_PlaceAndValue):
    """The smallest, and where it is."""

    name = "MinDim"
    sign, index_at = -1, 1


def along(call: Call) -> int:
    """The axis (argument 1) from 0; ``ShapeError`` for one out of range or of no elements."""
    shape, axis = call.shape(0), call.values[1]
    if not -max(1, len(shape)) <= axis < max(1, len(shape)):
        raise call.fail(f"axis {axis} is out of range for {len(shape)} dimensions")
    axis = axis % len(shape) if shape else 0
    if shape and shape[axis] == 0:
        raise call.fail(f"axis {axis} has no elements")
    return int(axis)


def place(x: Array, axis: int, sign: int) -> Array:
    """Index (int64) of the first largest (``sign`` 1) or smallest (-1) element along ``axis``.

    NaN counts only where it comes first (measured).
    """
    if is_wide(x):
        x = numerics.wide(x)
        lost = np.isnan(x)
        best = np.where(lost, -sign * np.inf, x)
        if lost.any():
            first = np.isnan(np.take(x, [0], axis)) if x.ndim else lost
            return np.where(first.squeeze(axis) if x.ndim else first, 0, place(best, axis, sign))
        x = best
    return np.asarray((np.argmax if sign > 0 else np.argmin)(x, axis=axis if x.ndim else None), np.int64)
