"""CumSum, CumProd, Cummax and Cummin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from harness import dtypes
from harness.dtypes import DType
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.elementwise import as_result, check_kind
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec, TupleSpec


class _Cumulative(Operator):
    """Arguments: tensor, axis, exclusive (each element left out of its own result), reverse (from the end)."""

    tensors = (0,)
    start: ClassVar[int]

    def infer(self, call: Call) -> Spec:
        check_kind(call, "iufc", 0)
        x = call.tensor(0).tensor
        if not x.shape or not -len(x.shape) <= call.values[1] < len(x.shape):
            raise call.fail(f"axis {call.values[1]} is out of range")
        return x

    def joined(self, so_far: Array, x: Array) -> Array:
        """The next value after ``so_far`` and ``x``."""
        raise NotImplementedError

    def kernel(self, call: Call, x: Array, axis: int, exclusive: bool, reverse: bool) -> Array:
        (x,) = as_result(call, x)
        rows = np.moveaxis(x, axis, 0)
        rows = rows[::-1] if reverse else rows
        out = np.empty_like(rows)
        so_far = np.full(rows.shape[1:], self.start, rows.dtype)
        for i, row in enumerate(rows):
            after = self.joined(so_far, row)
            out[i] = so_far if exclusive else after
            so_far = after
        return np.moveaxis(out[::-1] if reverse else out, 0, axis)


@operator
class CumSum(_Cumulative):
    """Running sum."""

    name = "CumSum"
    start = 0

    def joined(self, so_far: Array, x: Array) -> Array:
        return so_far + x

    def gradient(self, b: Backward) -> Sequence[Any]:
        _x, axis, exclusive, reverse = b.inputs
        return emit("CumSum", b.dout, axis, exclusive, not reverse), None, None, None


@operator
class CumProd(_Cumulative):
    """Running product."""

    name = "CumProd"
    start = 1

    def joined(self, so_far: Array, x: Array) -> Array:
        return so_far * x

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, axis, exclusive, reverse = b.inputs
        weighted = emit("Mul", emit("CumProd", x, axis, exclusive, reverse), b.dout)
        return emit("RealDiv", emit("CumSum", weighted, axis, exclusive, not reverse), x), None, None, None


class _Extreme(Operator):
    """Arguments: tensor, axis. Gives the extreme so far, and its last place."""

    tensors = (0,)
    sign: ClassVar[int]
    places: ClassVar[DType]

    def infer(self, call: Call) -> Spec:
        check_kind(call, "iuf", 0)
        x = call.tensor(0).tensor
        if not x.shape or not -len(x.shape) <= call.values[1] < len(x.shape):
            raise call.fail(f"axis {call.values[1]} is out of range")
        return TupleSpec((x, TensorSpec(self.places, x.shape)))

    def kernel(self, call: Call, x: Array, axis: int) -> tuple[Array, Array]:
        rows = np.moveaxis(x, axis, 0)
        values, places = rows.copy(), np.zeros(rows.shape, self.places.numpy)
        for at in range(1, len(rows)):
            before, row = values[at - 1], rows[at]
            taken = (row >= before if self.sign > 0 else row <= before) | np.isnan(row.astype(np.float64))
            taken &= ~(np.isnan(before.astype(np.float64)) & ~np.isnan(row.astype(np.float64)))
            values[at] = np.where(taken, row, before)
            places[at] = np.where(taken, at, places[at - 1])
        return np.moveaxis(values, 0, axis), np.moveaxis(places, 0, axis)


@operator
class Cummax(_Extreme):
    """The largest so far."""

    name = "Cummax"
    sign, places = 1, dtypes.int64


@operator
class Cummin(_Extreme):
    """The smallest so far."""

    name = "Cummin"
    sign, places = -1, dtypes.int32
