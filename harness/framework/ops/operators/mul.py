"""Mul, and Muls for a tensor times a number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.broadcast import reduce_to
from harness.framework.ops.elementwise import Binary, as_result
from harness.framework.ops.expansion import Composite, beside
from harness.framework.tensor import call as emit


@operator
class Mul(Binary):
    """x * y; operands may have two dtypes, without a Cast."""

    name = "Mul"
    same_dtype = ()

    def kernel(self, call: Call, x: Array, y: Array) -> Array:
        x, y = as_result(call, x, y)
        return x * y

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, y = b.inputs
        dx = reduce_to(emit("Mul", y, b.dout), x) if b.needs[0] else None
        dy = reduce_to(emit("Mul", x, b.dout), y) if b.needs[1] else None
        return dx, dy


@operator
class Muls(Composite):
    """x times a Python number."""

    name = "Muls"
    tensors = (0,)

    def expand(self, x: Any, number: Any) -> Any:
        return emit("Mul", *beside(x, number))

    def gradient(self, b: Backward) -> Sequence[Any]:
        return reduce_to(emit("Muls", b.dout, b.inputs[1]), b.inputs[0]), None
