"""Mod, TruncateMod and TruncateDiv."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.broadcast import reduce_to
from harness.framework.ops.elementwise import Binary, as_result
from harness.framework.tensor import call as emit


class _Truncated(Binary):
    """Arithmetic on the quotient rounded toward zero."""

    functional = False
    accepts = "iuf"

    def divided(self, x: Array, y: Array) -> Array:
        """x / y toward zero."""
        return numerics.divide_toward_zero(x, y) if x.dtype.kind in "iu" else np.trunc(numerics.divide(x, y))


@operator
class TruncateDiv(_Truncated):
    """The quotient, toward zero."""

    name = "TruncateDiv"

    def kernel(self, call: Call, x: Array, y: Array) -> Array:
        return self.divided(*as_result(call, x, y))

    def gradient(self, b: Backward) -> Sequence[Any]:
        return None, None


class _Remaining(_Truncated):
    """The remainder, with the sign of ``x``."""

    def kernel(self, call: Call, x: Array, y: Array) -> Array:
        x, y = as_result(call, x, y)
        return np.fmod(x, y)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, y = b.inputs
        dy = emit("Mul", emit("Neg", b.dout), self.quotient(x, y)) if b.needs[1] else None
        return reduce_to(b.dout, x), reduce_to(dy, y)

    def quotient(self, x: Any, y: Any) -> Any:
        """The value of x / y in the gradient of ``y``."""
        return emit("TruncateDiv", x, y, output_names=("output",), input_names=("x", "y"))


@operator
class TruncateMod(_Remaining):
    """The remainder, with the sign of ``x``."""

    name = "TruncateMod"


@operator
class Mod(_Remaining):
    """The remainder, with the sign of ``x``; its gradient takes the quotient rounded down."""

    name = "Mod"

    def quotient(self, x: Any, y: Any) -> Any:
        """floor(x / y)."""
        return emit("FloorDiv", x, y)
