"""Tanh and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.elementwise import Binary, Floating, as_result
from harness.framework.tensor import call as emit


@operator
class Tanh(Floating):
    """Hyperbolic tangent."""

    name = "Tanh"
    steady = True

    @staticmethod
    def function(x: Array) -> Array:
        return np.tanh(x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("TanhGrad", b.out, b.dout),)


@operator
class TanhGrad(Binary):
    """dout * (1 - out ** 2)."""

    name = "TanhGrad"

    def kernel(self, call: Call, out: Array, dout: Array) -> Any:
        out, dout = as_result(call, out, dout)
        return dout * (1 - out * out)

    def gradient(self, b: Backward) -> Sequence[Any]:
        out, dout = b.inputs
        return emit("Mul", emit("Mul", emit("Muls", b.dout, -2.0), dout), out), emit("TanhGrad", out, b.dout)
