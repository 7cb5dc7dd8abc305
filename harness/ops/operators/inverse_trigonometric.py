"""Inverse trigonometric functions: Asin, ACos, Atan, and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.ops import numerics
from harness.ops.base import Array, Backward, Call, operator
from harness.ops.elementwise import Floating, Unary
from harness.tensor import call as emit


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
