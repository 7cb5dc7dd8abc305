"""SearchSorted, and InTopK."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness import dtypes
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.graph import Spec, TensorSpec


def _places(rows: Array, values: Array, right: bool) -> Array:
    """Where each of ``values`` (n, k) belongs in its row of ``rows`` (n, m), by halving; in a row that is not sorted,
    or has NaN, where the halving ends (MindSpore 2.10.0 CPU, measured)."""
    low, high = np.zeros(values.shape, np.int64), np.full(values.shape, rows.shape[1])
    while (low < high).any():
        middle = (low + high) // 2
        found = np.take_along_axis(rows, np.minimum(middle, rows.shape[1] - 1), 1)
        beyond = ~(found > values if right else found >= values)
        low, high = np.where((low < high) & beyond, middle + 1, low), np.where((low < high) & ~beyond, middle, high)
    return low


@operator
class SearchSorted(Operator):
    """Rows in order, values, the rows' order (None: they are sorted), 34 or 35 for Int32 or Int64, right."""

    name = "SearchSorted"
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        rows, values = call.shape(0), call.shape(1)
        if len(rows) != 1 and rows[:-1] != values[:-1]:
            raise call.fail("the rows must be one, or as many as those of the values")
        return TensorSpec({34: dtypes.int32}.get(call.values[3], dtypes.int64), values)

    def kernel(self, call: Call, rows: Array, values: Array, order: Any, _dtype: int, right: bool) -> Array:
        rows = rows if order is None else np.take_along_axis(rows, np.asarray(order), -1)
        last = rows.shape[-1]
        wanted = values.reshape(1, values.size) if rows.ndim == 1 else values.reshape(-1, values.shape[-1])
        return _places(rows.reshape(-1, last), wanted, bool(right)).reshape(values.shape)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (None,) * len(b.inputs)


@operator
class InTopK(Operator):
    """Rows and a place in each: whether fewer than ``k`` (an attribute) of the row are larger than what is there."""

    name = "InTopK"
    functional = False
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        if len(call.shape(0)) != 2 or call.shape(1) != call.shape(0)[:1]:
            raise call.fail("a matrix and one place for each of its rows are needed")
        return TensorSpec(dtypes.bool_, call.shape(1))

    def kernel(self, call: Call, x: Array, places: Array) -> Array:
        wide = numerics.wide(x)
        inside = (places >= 0) & (places < x.shape[1])
        there = np.take_along_axis(wide, np.where(inside, places, 0).astype(np.int64)[:, None], 1)
        found: Array = inside & np.isfinite(there[:, 0]) & ((wide > there).sum(1) < call.attrs["k"])
        return found

    def gradient(self, b: Backward) -> Sequence[Any]:
        return None, None
