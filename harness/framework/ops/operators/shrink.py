"""SoftShrink and HShrink, and their gradients: what lies within a bound of 0 becomes 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.elementwise import Floating, Unary
from harness.framework.tensor import call as emit


class _Shrink(Floating):
    """Argument 1 is the bound."""

    arguments = 2

    def gradient(self, b: Backward) -> Sequence[Any]:
        return emit(f"{self.name}Grad", b.dout, *b.inputs), None


class _ShrinkGrad(Unary):
    """Arguments: dout, x, bound: dout outside the bound, 0 within."""

    def kernel(self, call: Call, dout: Array, *rest: Any) -> Any:
        x, bound = rest
        return np.where(np.abs(numerics.wide(x)) <= np.float32(bound), dout.dtype.type(0), dout)


@operator
class SoftShrink(_Shrink):
    """x moved toward 0 by the bound."""

    name = "SoftShrink"

    def kernel(self, call: Call, x: Array, *settings: Any) -> Any:
        wide, bound = numerics.wide(x), np.float64(np.float32(settings[0]))
        return np.where(wide > bound, wide - bound, np.where(wide < -bound, wide + bound, 0.0))


@operator
class SoftShrinkGrad(_ShrinkGrad):
    """Of SoftShrink."""

    name = "SoftShrinkGrad"


@operator
class HShrink(_Shrink):
    """x itself outside the bound."""

    name = "HShrink"

    def kernel(self, call: Call, x: Array, *settings: Any) -> Any:
        return np.where(np.abs(numerics.wide(x)) <= np.float32(settings[0]), x.dtype.type(0), x)


@operator
class HShrinkGrad(_ShrinkGrad):
    """Of HShrink."""

    name = "HShrinkGrad"
