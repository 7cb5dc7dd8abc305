"""Sigmoid and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness import dtypes
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.elementwise import Binary, Floating, as_result
from harness.framework.ops.expansion import scalar
from harness.framework.tensor import call as emit


@operator
class Sigmoid(Floating):
    """1 / (1 + e ** -x); of Float16 each step is rounded (measured)."""

    name = "Sigmoid"
    steady = True

    @staticmethod
    def function(x: Array) -> Array:
        return 1 / (1 + np.exp(-x))

    def kernel(self, call: Call, x: Array, *_settings: Any) -> Array:
        if call.outputs()[0].dtype is not dtypes.float16:
            return super().kernel(call, x)
        power = numerics.widest(np.exp, -x).astype(np.float16)
        return 1 / (1 + power.astype(np.float32)).astype(np.float16).astype(np.float32)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("SigmoidGrad", b.out, b.dout),)


@operator
class SigmoidGrad(Binary):
    """dout * out * (1 - out)."""

    name = "SigmoidGrad"

    def kernel(self, call: Call, out: Array, dout: Array) -> Any:
        out, dout = as_result(call, out, dout)
        return dout * out * (1 - out)

    def gradient(self, b: Backward) -> Sequence[Any]:
        out, dout = b.inputs
        slope = emit("Sub", scalar(1, out.dtype), emit("Muls", out, 2.0))
        return emit("Mul", emit("Mul", b.dout, dout), slope), emit("SigmoidGrad", out, b.dout)
