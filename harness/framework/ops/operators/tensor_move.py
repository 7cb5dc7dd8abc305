"""TensorMove: a copy of a parameter's value, taken before something overwrites it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.graph import Spec


@operator
class TensorMove(Operator):
    """``x``, in memory of its own."""

    name = "TensorMove"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array) -> Array:
        return x.copy()

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (b.dout,)
