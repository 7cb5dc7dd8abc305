"""Sqrt and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.elementwise import Binary, Floating, as_result
from harness.framework.ops.expansion import scalar
from harness.framework.tensor import call as emit


@operator
class Sqrt(Floating):
    """Square root; negative numbers give NaN."""

    name = "Sqrt"
    accepts = "biufc"

    @staticmethod
    def function(x: Array) -> Array:
        return np.sqrt(x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("SqrtGrad", b.out, b.dout),)


@operator
class SqrtGrad(Binary):
    """dout / (2 * out)."""

    name = "SqrtGrad"

    def kernel(self, call: Call, out: Array, dout: Array) -> Any:
        out, dout = as_result(call, out, dout)
        return dout / (2 * out)

    def gradient(self, b: Backward) -> Sequence[Any]:
        ratio = emit("RealDiv", b.dout, b.inputs[0])
        return emit("Mul", emit("Neg", ratio), b.out), emit("Mul", scalar(0.5, ratio.dtype), ratio)
