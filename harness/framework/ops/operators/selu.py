"""SeLU, CeLU and Mish."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.elementwise import Floating
from harness.framework.ops.expansion import scalar
from harness.framework.tensor import Tensor
from harness.framework.tensor import call as emit
from harness.graph import Spec

SCALE = 1.05070098
ALPHA = 1.67326324
_NAMES: dict[str, Any] = {"output_names": ("output",), "input_names": ("x",)}


@operator
class SeLU(Floating):
    """1.0507 * x above 0, else 1.0507 * 1.6733 * (e ** x - 1); its gradient is MindSpore's, that of Elu scaled.
    Whole numbers give whole numbers, cut off, 0 below 0 (measured)."""

    name = "SeLU"
    accepts = "if"
    of_integers = None
    functional = False

    @staticmethod
    def function(x: Array) -> Any:
        return SCALE * np.where(x > 0, x, ALPHA * np.expm1(np.minimum(x, 0)))

    def kernel(self, call: Call, x: Array, *settings: Any) -> Array:
        return super().kernel(call, np.maximum(x, 0) if x.dtype.kind == "i" else x, *settings)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("Muls", emit("EluGrad", b.dout, b.out), SCALE),)


@operator
class CeLU(Floating):
    """x above 0, else alpha * (e ** (x / alpha) - 1); argument 1 is alpha."""

    name = "CeLU"
    arguments = 2

    def infer(self, call: Call) -> Spec:
        if call.values[1] == 0:
            raise call.fail("alpha must not be 0")
        return super().infer(call)

    def kernel(self, call: Call, x: Array, *settings: Any) -> Any:
        wide = numerics.wide(x).astype(np.longdouble)
        alpha = float(settings[0])
        return np.maximum(wide, 0) + np.minimum(alpha * np.expm1(wide / alpha), 0)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, alpha = b.inputs
        ones = Tensor(np.ones(x.shape, x.dtype.numpy), x.dtype)
        below = emit("AddScalar", emit("RealDiv", b.out, scalar(alpha, x.dtype)), 1, 1)
        slope = emit("Select", emit("GreaterEqualScalar", x, 0), ones, below)
        return emit("Mul", b.dout, slope), None


@operator
class Mish(Floating):
    """x * tanh(log(1 + e ** x))."""

    name = "Mish"
    functional = False

    @staticmethod
    def function(x: Array) -> Any:
        return x * np.tanh(np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))))

    def gradient(self, b: Backward) -> Sequence[Any]:
        x = b.inputs[0]
        tanh = emit("Tanh", emit("Softplus", x, **_NAMES))
        inner = emit("SoftplusGrad", emit("TanhGrad", tanh, emit("Mul", x, b.dout)), x, **_NAMES)
        return (emit("Add", emit("Mul", tanh, b.dout), inner),)
