"""Rsqrt and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.elementwise import Binary, Floating, as_result
from harness.framework.ops.expansion import scalar
from harness.framework.tensor import call as emit


@operator
class Rsqrt(Floating):
    """1 / sqrt(x)."""

    name = "Rsqrt"

    @staticmethod
    def function(x: Array) -> Array:
        return 1 / np.sqrt(x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("RsqrtGrad", b.out, b.dout),)


@operator
class RsqrtGrad(Binary):
    """-dout * out ** 3 / 2."""

    name = "RsqrtGrad"

    def kernel(self, call: Call, out: Array, dout: Array) -> Array:
        out, dout = as_result(call, out, dout)
        return out * out * out * dout / -2

    def gradient(self, b: Backward) -> Sequence[Any]:
        out, dout = b.inputs
        slope = emit("Mul", emit("Mul", emit("Mul", scalar(-1.5, dout.dtype), dout), out), out)
        return emit("Mul", slope, b.dout), emit("RsqrtGrad", out, b.dout)
