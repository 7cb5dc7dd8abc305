"""Tile: a tensor repeated along its axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


@operator
class Tile(Operator):
    """``x`` repeated argument 1 times along each axis; missing axes (of either) count from the last."""

    name = "Tile"
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        x, times = call.tensor(0), ints(call, 1)
        if any(t < 0 for t in times):
            raise call.fail(f"the numbers of repeats {list(times)} must not be below 0")
        shape, times = aligned(x.shape, times)
        return TensorSpec(x.dtype, tuple(-1 if n == -1 else n * t for n, t in zip(shape, times, strict=True)))

    def kernel(self, call: Call, x: Array, times: tuple[int, ...]) -> Array:
        return np.tile(x, times)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x = b.inputs[0]
        shape, times = aligned(x.shape, b.inputs[1])
        pairs = tuple(v for n, t in zip(shape, times, strict=True) for v in (t, n))
        folded = b.dout
        if any(each != 1 for each in times):  # else nothing is added up (measured)
            folded = emit("SumExt", emit("Reshape", b.dout, pairs), tuple(range(0, len(pairs), 2)), False, None)
        return folded if shape == tuple(x.shape) else emit("Reshape", folded, x.shape), None


def aligned(shape: Sequence[int], times: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Both with ones put before the shorter."""
    rank = max(len(shape), len(times))
    return (1,) * (rank - len(shape)) + tuple(shape), (1,) * (rank - len(times)) + tuple(times)
