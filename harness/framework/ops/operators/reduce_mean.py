"""ReduceMean, and MeanExt, the form of ``mean`` with a dtype."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.expansion import Composite, cast, scalar
from harness.framework.ops.reduce import Reduction, axes_of, kept_shape, repeat
from harness.framework.tensor import call as emit


@operator
class ReduceMean(Reduction):
    """Mean over axes."""

    name = "ReduceMean"

    def kernel(self, call: Call, x: Array, _axes: Any, keep: bool) -> Array:
        return numerics.mean(numerics.wide(x), self.axes(call), keep, x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, axis, keep = b.inputs
        return emit("RealDiv", repeat(b.dout, x, axis, keep), scalar(_count(x, axis), x.dtype)), None, None


def _count(x: Any, axis: Any) -> int:
    """How many elements each mean is of."""
    return prod(x.shape) // max(1, prod(kept_shape(x, axis))) if x.shape else 1


@operator
class MeanExt(Composite):
    """Arguments: tensor, axes (None for all), keep_dims, dtype (None for its own)."""

    name = "MeanExt"
    tensors = (0,)

    def expand(self, x: Any, axis: Any, keep: bool, dtype: Any) -> Any:
        return emit("ReduceMean", x if dtype is None else cast(x, dtype), axes_of(axis), keep)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, axis, keep, _dtype = b.inputs
        return emit("Divs", repeat(b.dout, x, axis, keep), _count(x, axis)), None, None, None
