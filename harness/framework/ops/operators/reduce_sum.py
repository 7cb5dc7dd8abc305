"""ReduceSum, and SumExt, the form of ``sum`` with a dtype."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.elementwise import as_result
from harness.framework.ops.expansion import Composite, cast
from harness.framework.ops.reduce import Reduction, axes_of, repeat, total_dtype
from harness.framework.tensor import call as emit


@operator
class ReduceSum(Reduction):
    """Sum over axes; argument 3: no axes mean no reduction."""

    name = "ReduceSum"
    accepts = "biufc"

    def skips(self, call: Call) -> bool:
        return bool(call.values[3])

    def kernel(self, call: Call, x: Array, _axes: Any, keep: bool, _skip: bool) -> Any:
        if x.dtype.kind == "b":
            return x.any(axis=self.axes(call), keepdims=keep)
        (x,) = as_result(call, x)
        return numerics.total(x, self.axes(call), keep) if self.axes(call) else x

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, axis, keep, skip = b.inputs
        if skip and not axis:
            return b.dout, None, None, None
        return repeat(b.dout, x, axis, keep), None, None, None


@operator
class SumExt(Composite):
    """Arguments: tensor, axes (None or empty for all), keep_dims, dtype (None: ``total_dtype``)."""

    name = "SumExt"
    tensors = (0,)

    def expand(self, x: Any, axis: Any, keep: bool, dtype: Any) -> Any:
        if dtype is None:
            dtype = total_dtype(x.dtype)
        return emit("ReduceSum", cast(x, dtype), axes_of(axis), keep, False)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, axis, keep, _dtype = b.inputs
        return repeat(b.dout, x, axis, keep), None, None, None
