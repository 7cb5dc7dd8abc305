"""HSwish and HSigmoid, and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness import dtypes
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.elementwise import Floating, Unary
from harness.framework.tensor import call as emit


@operator
class HSwish(Floating):
    """x * min(max(x + 3, 0), 6) / 6; 0 up to -3, also of minus infinity. Whole numbers give whole numbers, cut off; of
    Float16 the sum and the product are rounded (measured)."""

    name = "HSwish"
    accepts = "if"
    of_integers = None

    @staticmethod
    def function(x: Array) -> Any:
        return np.where(x <= -3, 0, x * np.clip(x + 3, 0, 6) / 6)

    def kernel(self, call: Call, x: Array, *_settings: Any) -> Array:
        if call.outputs()[0].dtype is not dtypes.float16:
            return super().kernel(call, x)
        values = x.astype(np.float32)
        product = (values * np.clip((values + 3).astype(np.float16), 0, 6)).astype(np.float16)
        return np.where(values <= -3, 0, np.where(values >= 3, values, product.astype(np.float32) / 6))

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("HSwishGrad", b.dout, b.inputs[0]),)


@operator
class HSwishGrad(Unary):
    """Arguments: dout, x; at -3 and 3 the slope of the middle (measured)."""

    name = "HSwishGrad"

    def kernel(self, call: Call, *args: Array) -> Array:
        dout, x = (numerics.wide(a) for a in args)
        return dout * np.where(x < -3, 0, np.where(x > 3, 1, (2 * x + 3) / 6))


@operator
class HSigmoid(Floating):
    """min(max(x + 3, 0), 6) / 6. Whole numbers give whole numbers, cut off."""

    name = "HSigmoid"
    accepts = "if"
    of_integers = None

    @staticmethod
    def function(x: Array) -> Any:
        return np.clip(x + 3, 0, 6) / 6

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("HSigmoidGrad", b.dout, b.inputs[0]),)


@operator
class HSigmoidGrad(Unary):
    """Arguments: dout, x; NaN has the slope of the middle (measured)."""

    name = "HSigmoidGrad"

    def kernel(self, call: Call, *args: Array) -> Array:
        dout, x = (numerics.wide(a) for a in args)
        return dout * np.where((x <= -3) | (x >= 3), 0, 1 / 6)
