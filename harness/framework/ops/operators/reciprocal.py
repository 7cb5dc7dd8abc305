"""Reciprocal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness import dtypes
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.elementwise import Unary
from harness.framework.tensor import call as emit


@operator
class Reciprocal(Unary):
    """1 / x."""

    name = "Reciprocal"
    accepts = "biufc"
    of_integers = dtypes.float32

    def kernel(self, call: Call, x: Array) -> Array:
        return 1 / numerics.wide(x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("Mul", emit("Neg", b.dout), emit("Mul", b.out, b.out)),)
