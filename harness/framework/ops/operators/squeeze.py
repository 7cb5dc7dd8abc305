"""Squeeze: axes of length 1 taken away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


@operator
class Squeeze(Operator):
    """``x`` without the axes of argument 1 (all if it is empty), those longer than 1 aside, which stay (measured)."""

    name = "Squeeze"
    tensors = (0,)
    unread = frozenset({1})

    def infer(self, call: Call) -> Spec:
        x, axes = call.tensor(0), ints(call, 1)
        rank = len(x.shape)
        for axis in axes:
            if not -max(rank, 1) <= axis < max(rank, 1):
                raise call.fail(f"axis {axis} is out of range for {rank} dimensions")
        return TensorSpec(x.dtype, _without(x.shape, axes))

    def kernel(self, call: Call, x: Array, axes: tuple[int, ...]) -> Array:
        return x.reshape(_without(x.shape, axes))

    def gradient(self, b: Backward) -> Sequence[Any]:
        return emit("Reshape", b.dout, b.inputs[0].shape), None


def _without(shape: Sequence[int], axes: Sequence[int]) -> tuple[int, ...]:
    asked = {a % len(shape) for a in axes} if shape and axes else set(range(len(shape)))
    return tuple(n for a, n in enumerate(shape) if a not in asked or n not in ((1, -1) if axes else (1,)))
