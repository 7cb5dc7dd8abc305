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
    """``x`` without the axes of argument 1; all axes of length 1 if it is empty."""

    name = "Squeeze"
    tensors = (0,)
    unread = frozenset({1})

    def infer(self, call: Call) -> Spec:
        x, axes = call.tensor(0), ints(call, 1)
        rank = len(x.shape)
        for axis in axes:
            if not -rank <= axis < rank or x.shape[axis] not in (1, -1):
                raise call.fail(f"axis {axis} is not an axis of length 1")
        gone = {a % rank for a in axes} or {a for a, n in enumerate(x.shape) if n == 1}
        return TensorSpec(x.dtype, tuple(n for a, n in enumerate(x.shape) if a not in gone))

    def kernel(self, call: Call, x: Array, axes: tuple[int, ...]) -> Array:
        gone = {a % x.ndim for a in axes} or {a for a, n in enumerate(x.shape) if n == 1}
        return x.reshape([n for a, n in enumerate(x.shape) if a not in gone])

    def gradient(self, b: Backward) -> Sequence[Any]:
        return emit("Reshape", b.dout, b.inputs[0].shape), None
