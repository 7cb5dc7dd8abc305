"""GeLU (the tanh form) and FastGeLU, and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops import certified, numerics
from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.elementwise import Floating, Unary
from harness.framework.tensor import call as emit

_C = np.sqrt(2 / np.longdouble("3.14159265358979323846264338327950288"))
_CUBE = np.longdouble("0.044715")
_FAST = np.longdouble("1.702")


@operator
class GeLU(Floating):
    """x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x ** 3)))."""

    name = "GeLU"

    @staticmethod
    def function(x: Array) -> Any:
        c, cube = x.dtype.type(_C), x.dtype.type(_CUBE)
        return x / 2 * (1 + np.tanh(c * (x + cube * x * x * x)))

    def kernel(self, call: Call, x: Array, *_settings: Any) -> Array:
        return certified.evaluated(self.function, call.outputs()[0].dtype, x, size=np.abs)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("GeLUGrad", b.dout, b.inputs[0], b.out),)


@operator
class GeLUGrad(Unary):
    """Arguments: dout, x, out."""

    name = "GeLUGrad"

    def kernel(self, call: Call, *args: Array) -> Any:
        dtype = call.outputs()[0].dtype
        return certified.evaluated(self.slope, dtype, *args[:2], size=self.size)

    @staticmethod
    def slope(dout: Array, x: Array) -> Any:
        c, cube = x.dtype.type(_C), x.dtype.type(_CUBE)
        tanh = np.tanh(c * (x + cube * x * x * x))
        return dout * ((1 + tanh) / 2 + x / 2 * (1 - tanh * tanh) * c * (1 + 3 * cube * x * x))

    @staticmethod
    def size(dout: Array, x: Array) -> Any:
        """The size of the terms of ``slope``; (1 - tanh ** 2) is the difference of numbers near 1."""
        return np.abs(dout) * (1 + np.abs(x) * (1 + x * x))


@operator
class FastGeLU(Floating):
    """x / (1 + e ** -1.702x); NaN of either infinity, as its kernel splits it (measured)."""

    name = "FastGeLU"

    @staticmethod
    def function(x: Array) -> Any:
        return np.where(np.isinf(x), np.nan, x / (1 + np.exp(-_FAST * x)))

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("FastGeLUGrad", b.dout, b.inputs[0]),)


@operator
class FastGeLUGrad(Unary):
    """Arguments: dout, x."""

    name = "FastGeLUGrad"

    def kernel(self, call: Call, *args: Array) -> Any:
        dout, x = (numerics.wide(a).astype(np.longdouble) for a in args)
        gate = 1 / (1 + np.exp(-_FAST * x))
        return dout * (gate + _FAST * x * gate * (1 - gate))
