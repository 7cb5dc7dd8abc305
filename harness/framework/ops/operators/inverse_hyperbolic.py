"""Inverse hyperbolic functions: Asinh, Acosh, Atanh, and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.elementwise import Floating, Unary
from harness.framework.tensor import call as emit


@operator
class Asinh(Floating):
    """Inverse hyperbolic sine."""

    name = "Asinh"

    @staticmethod
    def function(x: Array) -> Array:
        return np.arcsinh(x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("AsinhGrad", b.out, b.dout),)


@operator
class AsinhGrad(Unary):
    """Arguments: out, dout."""

    name = "AsinhGrad"

    def kernel(self, call: Call, *args: Array) -> Array:
        x, dout = (numerics.wide(a).astype(np.longdouble) for a in args)
        return dout / np.cosh(x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        out, _dout = b.inputs
        bent = emit("Muls", emit("Mul", b.dout, b.out), -1.0)
        return emit("Mul", bent, emit("Tanh", out)), emit("AsinhGrad", out, b.dout)


@operator
class Acosh(Floating):
    """Inverse hyperbolic cosine."""

    name = "Acosh"

    @staticmethod
    def function(x: Array) -> Array:
        return np.arccosh(x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("AcoshGrad", b.out, b.dout),)


@operator
class AcoshGrad(Unary):
    """Arguments: out, dout."""

    name = "AcoshGrad"

    def kernel(self, call: Call, *args: Array) -> Array:
        x, dout = (numerics.wide(a).astype(np.longdouble) for a in args)
        return dout / np.sinh(x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        out, _dout = b.inputs
        bent = emit("Muls", emit("Mul", b.dout, b.out), -1.0)
        return emit("RealDiv", bent, emit("Tanh", out)), emit("AcoshGrad", out, b.dout)


@operator
class Atanh(Floating):
    """Inverse hyperbolic tangent."""

    name = "Atanh"

    @staticmethod
    def function(x: Array) -> Array:
        return np.arctanh(x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("Div", b.dout, emit("Sub", 1, emit("Square", b.inputs[0]))),)
