"""Xdivy, Xlogy, MulNoNan and DivNoNan: arithmetic of two tensors with a rule for zero."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.broadcast import reduce_to
from harness.framework.ops.elementwise import Binary, as_result
from harness.framework.ops.expansion import scalar
from harness.framework.tensor import call as emit

_XY: dict[str, Any] = {"output_names": ("output",), "input_names": ("x", "y")}


@operator
class Xdivy(Binary):
    """x / y, and 0 where x is 0."""

    name = "Xdivy"
    functional = False
    accepts = "fc"

    def kernel(self, call: Call, x: Array, y: Array) -> Array:
        first, second = as_result(call, x, y)
        return np.where(first == 0, 0, numerics.divide(first, second))

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, y = b.inputs
        some = emit("Cast", emit("NotEqual", x, scalar(0.0, x.dtype)), x.dtype)
        dx = emit("Mul", emit(self.name, some, y, **_XY), b.dout)
        dy = emit("Mul", emit(self.name, emit("Neg", x), emit("Square", y), **_XY), b.dout)
        return reduce_to(dx, x), reduce_to(dy, y)


@operator
class Xlogy(Binary):
    """x * log(y); the logarithm is rounded, and 0 * log(0) is NaN (measured)."""

    name = "Xlogy"
    accepts = "fc"

    def kernel(self, call: Call, x: Array, y: Array) -> Array:
        first, second = as_result(call, x, y)
        logarithm = np.log(second if second.dtype.kind == "c" else second.astype(np.longdouble))
        return np.asarray(first * numerics.wide(numerics.finish(logarithm, call.outputs()[0].dtype)))

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, y = b.inputs
        nothing = emit("Equal", x, scalar(0.0, x.dtype))
        both = emit("BitwiseAndTensor", nothing, emit("LessEqual", y, scalar(0.0, y.dtype)))
        dx = emit("MaskedFill", emit(self.name, b.dout, y), both, scalar(0.0, x.dtype))
        dy = emit("Div", emit("Mul", b.dout, x), y)
        return reduce_to(dx, x), reduce_to(dy, y)


@operator
class BitwiseAndTensor(Binary):
    """x & y, as the gradient of Xlogy has it."""

    name = "BitwiseAndTensor"
    accepts = "biu"

    def kernel(self, call: Call, x: Array, y: Array) -> Array:
        return np.bitwise_and(*as_result(call, x, y))


@operator
class MulNoNan(Binary):
    """x * y, and 0 where y is 0, whatever x is."""

    name = "MulNoNan"
    functional = False

    def kernel(self, call: Call, x: Array, y: Array) -> Array:
        first, second = as_result(call, x, y)
        return np.where(second == 0, np.zeros((), first.dtype), first * second)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, y = b.inputs
        dx, dy = emit(self.name, b.dout, y, **_XY), emit(self.name, x, b.dout, **_XY)
        return reduce_to(dx, x), reduce_to(dy, y)


@operator
class DivNoNan(Binary):
    """x / y, and 0 where y is 0."""

    name = "DivNoNan"
    functional = False
    accepts = "fc"

    def kernel(self, call: Call, x: Array, y: Array) -> Array:
        first, second = as_result(call, x, y)
        nothing = second == 0
        return np.where(nothing, 0, first / np.where(nothing, 1, second))

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, y = b.inputs
        dx = emit(self.name, b.dout, y, **b.attrs)
        return reduce_to(dx, x), reduce_to(emit("Neg", emit("Mul", dx, b.out)), y)
