"""Pow, and PowTensorScalar for a number as exponent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness import dtypes
from harness.ops import numerics
from harness.ops.base import Array, Backward, Call, operator
from harness.ops.broadcast import reduce_to
from harness.ops.elementwise import Binary, as_result
from harness.ops.expansion import Composite, beside, constant_value, scalar
from harness.ops.operators.log import LOG
from harness.tensor import Tensor
from harness.tensor import call as emit


@operator
class Pow(Binary):
    """x ** y; integer powers wrap, a negative integer exponent gives 0 except for 1 and -1."""

    name = "Pow"
    accepts = "iufc"

    def kernel(self, call: Call, x: Array, y: Array) -> Array:
        x, y = as_result(call, x, y)
        if x.dtype.kind in "iu":
            return _integer_power(*np.broadcast_arrays(x, y))
        return np.power(x, y) if x.dtype.kind == "c" else numerics.widest(np.power, x, y)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, y = b.inputs
        dx = dy = None
        if b.needs[0]:
            slope = emit("Mul", y, emit("Pow", x, emit("SubScalar", y, 1, 1)))
            dx = reduce_to(emit("Mul", slope, b.dout), x)
        if b.needs[1]:
            dy = reduce_to(emit("Mul", b.dout, _slope_of_exponent(x, y, b.out)), y)
        return dx, dy


def _slope_of_exponent(x: Any, y: Any, out: Any) -> Any:
    """out * log(x), and 0 where x is 0 and y is not negative; what is constant is computed at once."""
    known = constant_value(x)
    if known is None:
        at_zero, log = emit("Equal", x, scalar(0, x.dtype)), emit("Log", x, **LOG)
    else:
        at_zero = Tensor(np.asarray(known == 0), dtypes.bool_)
        log = Tensor(np.asarray(numerics.finish(numerics.widest(np.log, known), x.dtype)), x.dtype)
    flat = emit("LogicalAnd", at_zero, emit("GreaterEqual", y, scalar(0, y.dtype)))
    slope = emit("Mul", out, log)
    shape = tuple(slope.shape)
    zeros = emit("ZerosLike", slope) if -1 in shape else Tensor(np.zeros(shape, slope.dtype.numpy), slope.dtype)
    return emit("Select", flat, zeros, slope)


def _integer_power(x: Array, y: Array) -> Array:
    """Powers by squaring, wrapping as the dtype does."""
    negative = y < 0
    exponent = np.where(negative, 0, y).astype(np.uint64)
    out, base = np.ones_like(x), x.copy()
    while exponent.any():
        out = np.where(exponent & np.uint64(1), out * base, out).astype(x.dtype)
        base = base * base
        exponent = exponent >> np.uint64(1)
    odd = (y.astype(np.int64) & 1).astype(bool) if y.dtype.kind == "i" else np.zeros(y.shape, bool)
    unit = np.where(x == 1, 1, np.where(x == x.dtype.type(0) - 1, np.where(odd, -1, 1), 0))
    return np.where(negative, unit, out).astype(x.dtype)


@operator
class PowTensorScalar(Composite):
    """x ** number."""

    name = "PowTensorScalar"
    tensors = (0,)

    def expand(self, x: Any, exponent: Any) -> Any:
        return emit("Pow", *beside(x, exponent))

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, exponent = b.inputs
        slope = emit("Muls", emit("PowTensorScalar", x, exponent - 1), exponent)
        return emit("Mul", b.dout, slope), None
