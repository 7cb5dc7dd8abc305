"""Softplus and Softsign, and the gradient of the first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.elementwise import Floating, Unary
from harness.framework.ops.expansion import scalar
from harness.framework.ops.operators.exp import EXP
from harness.framework.tensor import call as emit

_NAMES: dict[str, Any] = {"output_names": ("output",), "input_names": ("x",)}


@operator
class Softplus(Floating):
    """log(1 + e ** x); infinity of NaN (measured)."""

    name = "Softplus"
    functional = False

    @staticmethod
    def function(x: Array) -> Array:
        return np.where(np.isnan(x), np.inf, np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))))

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("SoftplusGrad", b.dout, b.inputs[0], **_NAMES),)


@operator
class SoftplusGrad(Unary):
    """Arguments: dout, x."""

    name = "SoftplusGrad"
    functional = False

    def kernel(self, call: Call, *args: Array) -> Any:
        dout, x = (numerics.wide(a).astype(np.longdouble) for a in args)
        return dout / (1 + np.exp(-x))

    def gradient(self, b: Backward) -> Sequence[Any]:
        dout, x = b.inputs
        below = emit("Add", emit("AddScalar", emit("Exp", x, **EXP), 2.0, 1), emit("Exp", emit("Neg", x), **EXP))
        return emit("SoftplusGrad", b.dout, x, **_NAMES), emit("Div", emit("Mul", b.dout, dout), below)


@operator
class Softsign(Floating):
    """x / (1 + |x|)."""

    name = "Softsign"
    functional = False

    @staticmethod
    def function(x: Array) -> Any:
        return x / (1 + np.abs(x))

    def gradient(self, b: Backward) -> Sequence[Any]:
        x = b.inputs[0]
        square = emit("Square", emit("AddScalar", emit("Abs", x), 1, 1))
        return (emit("Mul", b.dout, emit("Div", scalar(1, x.dtype), square)),)
