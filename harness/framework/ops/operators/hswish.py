"""HSwish and HSigmoid, and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.elementwise import Floating, Unary
from harness.framework.tensor import call as emit


@operator
class HSwish(Floating):
    """x * min(max(x + 3, 0), 6) / 6."""

    name = "HSwish"

    @staticmethod
    def function(x: Array) -> Any:
        return x * np.clip(x + 3, 0, 6) / 6

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("HSwishGrad", b.dout, b.inputs[0]),)


@operator
class HSwishGrad(Unary):
    """Arguments: dout, x."""

    name = "HSwishGrad"

    def kernel(self, call: Call, *args: Array) -> Array:
        dout, x = (numerics.wide(a) for a in args)
        return dout * np.where(x <= -3, 0, np.where(x >= 3, 1, (2 * x + 3) / 6))


@operator
class HSigmoid(Floating):
    """min(max(x + 3, 0), 6) / 6."""

    name = "HSigmoid"

    @staticmethod
    def function(x: Array) -> Any:
        return np.clip(x + 3, 0, 6) / 6

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("HSigmoidGrad", b.dout, b.inputs[0]),)


@operator
class HSigmoidGrad(Unary):
    """Arguments: dout, x."""

    name = "HSigmoidGrad"

    def kernel(self, call: Call, *args: Array) -> Array:
        dout, x = (numerics.wide(a) for a in args)
        return dout * np.where((x > -3) & (x < 3), 1 / 6, 0)
