"""Sub, and SubScalar, its form for a number."""

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
class Sub(Binary):
    """x - y."""

    name = "Sub"
    accepts = "iufc"

    def kernel(self, call: Call, x: Array, y: Array) -> Array:
        x, y = as_result(call, x, y)
        return x - y

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, y = b.inputs
        return reduce_to(b.dout, x), reduce_to(emit("Neg", b.dout), y) if b.needs[1] else None


@operator
class SubExt(Binary):
    """x - y * alpha, of two tensors; alpha is a 0-d constant."""

    name = "SubExt"
    tensors: ClassVar[tuple[int, ...]] = (0, 1, 2)

    def kernel(self, call: Call, x: Array, y: Array, alpha: Any = 1) -> Array:
        x, y = as_result(call, x, y)
        return np.asarray(x - y * np.asarray(alpha).item())

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, y, alpha = b.inputs
        dy = None
        if b.needs[1]:
            dy = emit("Neg", b.dout)
            dy = reduce_to(dy if number_of(alpha) == 1 else emit("Muls", dy, number_of(alpha)), y)
        return reduce_to(b.dout, x), dy, None


@operator
class SubScalar(Composite):
    """x - number * alpha; the product of the two numbers is a kernel of its own."""

    name = "SubScalar"
    tensors = (0,)

    def expand(self, x: Any, number: Any, alpha: Any) -> Any:
        x, other = beside(x, number)
        return emit("Sub", x, emit("Mul", other, scalar(alpha, other.dtype)))

    def gradient(self, b: Backward) -> Sequence[Any]:
        return reduce_to(b.dout, b.inputs[0]), None, None
