"""ReduceMean."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.expansion import scalar
from harness.framework.ops.reduce import Reduction, kept_shape, repeat
from harness.framework.tensor import call as emit


@operator
class ReduceMean(Reduction):
    """Mean over axes."""

    name = "ReduceMean"

    def kernel(self, call: Call, x: Array, _axes: Any, keep: bool) -> Array:
        return numerics.mean(numerics.wide(x), self.axes(call), keep)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, axis, keep = b.inputs
        count = prod(x.shape) // max(1, prod(kept_shape(x, axis))) if x.shape else 1
        return emit("RealDiv", repeat(b.dout, x, axis, keep), scalar(count, x.dtype)), None, None
