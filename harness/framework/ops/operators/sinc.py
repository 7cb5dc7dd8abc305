"""Sinc, Erfinv and Inv."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops import gammas, numerics
from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.elementwise import Binary, Floating, Unary, is_wide
from harness.framework.ops.expansion import scalar
from harness.framework.tensor import Tensor
from harness.framework.tensor import call as emit


@operator
class Sinc(Floating):
    """sin(pi x) / (pi x), and 1 at 0."""

    name = "Sinc"
    accepts = "biuf"

    def kernel(self, call: Call, x: Array) -> Array:
        # The angle is rounded to the dtype (measured): at whole numbers the result is not 0.
        angle = numerics.widest(lambda x: x * np.longdouble("3.14159265358979323846264338327950288"), x)
        angle = numerics.finish(angle, call.outputs()[0].dtype)
        return numerics.widest(lambda a: np.where(a == 0, 1, np.sin(a) / np.where(a == 0, 1, a)), angle)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x = b.inputs[0]
        angle = emit("Muls", x, math.pi)
        nothing = emit("Equal", angle, scalar(0.0, x.dtype))
        slope = emit("Div", emit("Mul", emit("Sub", emit("Cos", angle), b.out), b.dout), x)
        return (emit("Select", nothing, Tensor(np.zeros(x.shape, x.dtype.numpy), x.dtype), slope),)


@operator
class Erfinv(Floating):
    """The inverse of Erf."""

    name = "Erfinv"
    accepts = "f"

    @staticmethod
    def function(x: Array) -> Array:
        return gammas.erfinv(x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        power = emit("Exp", emit("PowTensorScalar", b.out, 2), shift=0.0, scale=1.0, base=-1.0)
        return (emit("Mul", emit("Muls", power, math.sqrt(math.pi) / 2), b.dout),)


@operator
class Inv(Unary):
    """1 / x."""

    name = "Inv"
    functional = False

    def kernel(self, call: Call, x: Array) -> Array:
        if not is_wide(x):
            return numerics.divide_toward_zero(np.ones_like(x), x)
        return np.asarray(1 / numerics.wide(x))

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("InvGrad", b.out, b.dout, output_names=("y",), input_names=("x", "grad")),)


@operator
class InvGrad(Binary):
    """The result of Inv, and dout."""

    name = "InvGrad"
    functional = False

    def kernel(self, call: Call, y: Array, dout: Array) -> Array:
        return -numerics.wide(dout) * numerics.wide(y) * numerics.wide(y)
