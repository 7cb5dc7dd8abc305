"""Lerp, Addcmul, Addcdiv, SquaredDifference, Hypot: sums and products of several tensors as one kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.broadcast import reduce_to
from harness.framework.ops.elementwise import Binary, as_result, broadcast_shapes, check_kind
from harness.framework.tensor import Tensor
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


class _Mixing(Operator):
    """Tensors and a factor, which is a tensor, too."""

    def infer(self, call: Call) -> Spec:
        check_kind(call, "f", 0)
        shapes = (call.shape(at) for at in self.tensors)
        return TensorSpec(call.dtype(0), broadcast_shapes(call, *shapes))


@operator
class Lerp(_Mixing):
    """start, end, weight: start + weight * (end - start)."""

    name = "Lerp"
    tensors = (0, 1, 2)

    def kernel(self, call: Call, start: Array, end: Array, weight: Array) -> Array:
        first, last, share = (numerics.wide(a) for a in (start, end, weight))
        return np.asarray(first + share * (last - first))

    def gradient(self, b: Backward) -> Sequence[Any]:
        start, end, weight = b.inputs
        dstart = dend = dweight = None
        if b.needs[0]:
            dstart = reduce_to(emit("Mul", b.dout, emit("Sub", Tensor(1.0, weight.dtype), weight)), start)
        if b.needs[1]:
            dend = reduce_to(emit("Mul", b.dout, weight), end)
        if b.needs[2]:
            dweight = reduce_to(emit("Mul", b.dout, emit("Sub", end, start)), weight)
        return dstart, dend, dweight


@operator
class Addcmul(_Mixing):
    """input, x, y, value: input + value * x * y."""

    name = "Addcmul"
    tensors = (0, 1, 2, 3)

    def kernel(self, call: Call, *args: Array) -> Array:
        base, x, y, value = (numerics.wide(a) for a in args)
        return np.asarray(base + value * x * y)

    def gradient(self, b: Backward) -> Sequence[Any]:
        base, x, y, value = b.inputs
        dx = reduce_to(emit("Mul", b.dout, emit("Mul", value, y)), x) if b.needs[1] else None
        dy = reduce_to(emit("Mul", b.dout, emit("Mul", value, x)), y) if b.needs[2] else None
        return reduce_to(b.dout, base) if b.needs[0] else None, dx, dy, None


@operator
class Addcdiv(_Mixing):
    """input, x, y, value: input + value * x / y."""

    name = "Addcdiv"
    tensors = (0, 1, 2, 3)

    def kernel(self, call: Call, *args: Array) -> Array:
        base, x, y, value = (numerics.wide(a) for a in args)
        return np.asarray(base + value * (x / y))

    def gradient(self, b: Backward) -> Sequence[Any]:
        base, x, y, value = b.inputs
        dx = reduce_to(emit("Mul", b.dout, emit("Div", value, y)), x) if b.needs[1] else None
        dy = None
        if b.needs[2]:
            power = emit("PowTensorScalar", y, -2)
            dy = reduce_to(emit("Neg", emit("Mul", emit("Mul", emit("Mul", x, value), power), b.dout)), y)
        return reduce_to(b.dout, base) if b.needs[0] else None, dx, dy, None


@operator
class SquaredDifference(Binary):
    """(x - y) ** 2; the difference is rounded before it is squared (measured)."""

    name = "SquaredDifference"
    functional = False

    def kernel(self, call: Call, x: Array, y: Array) -> Array:
        x, y = as_result(call, x, y)
        apart: Array = x - y
        if apart.dtype.kind == "f":
            apart = numerics.wide(numerics.finish(apart, call.outputs()[0].dtype))
        return apart * apart

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, y = b.inputs
        slope = emit("Muls", emit("Mul", b.dout, emit("Sub", x, y)), 2)
        dx = reduce_to(slope, x) if b.needs[0] else None
        return dx, reduce_to(emit("Neg", slope), y) if b.needs[1] else None


@operator
class Hypot(Binary):
    """The root of x * x + y * y."""

    name = "Hypot"
    functional = False
    accepts = "f"

    def kernel(self, call: Call, x: Array, y: Array) -> Array:
        return numerics.widest(np.hypot, x, y)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, y = b.inputs
        dx = reduce_to(emit("Mul", emit("Div", x, b.out), b.dout), x) if b.needs[0] else None
        return dx, reduce_to(emit("Mul", emit("Div", y, b.out), b.dout), y) if b.needs[1] else None
