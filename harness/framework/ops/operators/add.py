"""Add, and AddScalar for a tensor and a number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.broadcast import reduce_to
from harness.framework.ops.elementwise import Binary, as_result
from harness.framework.ops.expansion import Composite, beside, number_of, scalar
from harness.framework.tensor import call as emit


@operator
class Add(Binary):
    """x + y; bools are joined by or."""

    name = "Add"

    def kernel(self, call: Call, x: Array, y: Array) -> Array:
        x, y = as_result(call, x, y)
        return x + y

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, y = b.inputs
        return reduce_to(b.dout, x), reduce_to(b.dout, y)


@operator
class AddExt(Binary):
    """x + y * alpha, of two tensors; alpha is a 0-d constant."""

    name = "AddExt"
    tensors: ClassVar[tuple[int, ...]] = (0, 1, 2)

    def kernel(self, call: Call, x: Array, y: Array, alpha: Any = 1) -> Array:
        x, y = as_result(call, x, y)
        return np.asarray(x + y * np.asarray(alpha).item())

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, y, alpha = b.inputs
        factor = 1 if alpha is None else number_of(alpha)
        scaled = b.dout if factor == 1 else emit("Muls", b.dout, factor)
        return reduce_to(b.dout, x), reduce_to(scaled, y) if b.needs[1] else None, None


@operator
class AddScalar(Composite):
    """x + number * alpha; the product of the two numbers is a kernel of its own."""

    name = "AddScalar"
    tensors = (0,)

    def expand(self, x: Any, number: Any, alpha: Any) -> Any:
        x, other = beside(x, number)
        return emit("Add", x, emit("Mul", other, scalar(alpha, other.dtype)))

    def gradient(self, b: Backward) -> Sequence[Any]:
        return reduce_to(b.dout, b.inputs[0]), None, None
