"""Square."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.elementwise import Unary, as_result
from harness.framework.tensor import call as emit


@operator
class Square(Unary):
    """x * x."""

    name = "Square"

    def kernel(self, call: Call, x: Array) -> Array:
        (x,) = as_result(call, x)
        return x * x

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("Mul", b.dout, emit("Muls", emit("PowTensorScalar", b.inputs[0], 1), 2)),)
