"""Inverse trigonometric functions: Asin, ACos, Atan, and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.elementwise import Floating, Unary
from harness.framework.ops.expansion import scalar
from harness.framework.tensor import call as emit


@operator
class Asin(Floating):
    """Arc sine."""

    name = "Asin"

    @staticmethod
    def function(x: Array) -> Array:
        return np.arcsin(x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("AsinGrad", b.inputs[0], b.dout),)


@operator
class AsinGrad(Unary):
    """Arguments: x, dout."""

    name = "AsinGrad"

    def kernel(self, call: Call, *args: Array) -> Any:
        x, dout = (numerics.wide(a).astype(np.longdouble) for a in args)
        return dout / np.sqrt(1 - x * x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, dout = b.inputs
        return _bend(x, dout, b.dout), emit("AsinGrad", x, b.dout)


@operator
class ACos(Floating):
    """Arc cosine."""

    name = "ACos"

    @staticmethod
    def function(x: Array) -> Array:
        return np.arccos(x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("ACosGrad", b.inputs[0], b.dout),)


@operator
class ACosGrad(Unary):
    """Arguments: x, dout."""

    name = "ACosGrad"

    def kernel(self, call: Call, *args: Array) -> Any:
        x, dout = (numerics.wide(a).astype(np.longdouble) for a in args)
        return -dout / np.sqrt(1 - x * x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, dout = b.inputs
        return _bend(x, dout, emit("Neg", b.dout)), emit("ACosGrad", x, b.dout)


@operator
class Atan(Floating):
    """Arc tangent."""

    name = "Atan"

    @staticmethod
    def function(x: Array) -> Array:
        return np.arctan(x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("AtanGrad", b.inputs[0], b.dout),)


@operator
class AtanGrad(Unary):
    """Arguments: x, dout."""

    name = "AtanGrad"

    def kernel(self, call: Call, *args: Array) -> Array:
        x, dout = (numerics.wide(a).astype(np.longdouble) for a in args)
        return dout / (1 + x * x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x = b.inputs[0]
        ddout = emit("AtanGrad", x, b.dout)
        return emit("Mul", emit("Muls", emit("Mul", b.out, ddout), -2.0), x), ddout


def _bend(x: Any, dout: Any, sens: Any) -> Any:
    """The slope of ``dout / sqrt(1 - x ** 2)`` in x, times ``sens``."""
    inside = emit("Sub", scalar(1, x.dtype), emit("Mul", x, x))
    return emit("Mul", emit("Mul", emit("Mul", sens, dout), x), emit("PowTensorScalar", inside, -1.5))
