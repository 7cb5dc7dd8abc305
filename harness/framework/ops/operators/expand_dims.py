"""ExpandDims: one more axis of length 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


@operator
class ExpandDims(Operator):
    """``x`` with a new axis at position argument 1 (negative: counted from behind the result's last)."""

    name = "ExpandDims"
    tensors = (0,)
    unread = frozenset({1})

    def infer(self, call: Call) -> Spec:
        x, (axis,) = call.tensor(0), ints(call, 1)
        rank = len(x.shape) + 1
        if not -rank <= axis < rank:
            raise call.fail(f"axis {axis} lies outside {-rank}..{rank - 1}")
        at = axis % rank
        return TensorSpec(x.dtype, (*x.shape[:at], 1, *x.shape[at:]))

    def kernel(self, call: Call, x: Array, axis: int) -> Array:
        return x.reshape(*x.shape[: axis % (x.ndim + 1)], 1, *x.shape[axis % (x.ndim + 1) :])

    def gradient(self, b: Backward) -> Sequence[Any]:
        return emit("Reshape", b.dout, b.inputs[0].shape), None
