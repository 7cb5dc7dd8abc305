"""Pow, and PowTensorScalar for a number as exponent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness import dtypes
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.broadcast import reduce_to
from harness.framework.ops.elementwise import Binary, as_result
from harness.framework.ops.expansion import Composite, beside, constant_value, scalar
from harness.framework.ops.operators.log import LOG
from harness.framework.tensor import Tensor
from harness.framework.tensor import call as emit


@operator
class Pow(Binary):
    """x ** y; integer powers go through float64, as on the CPU (measured)."""

    name = "Pow"
    accepts = "iufc"

    def kernel(self, call: Call, x: Array, y: Array) -> Array:
        x, y = as_result(call, x, y)
        if x.dtype.kind in "iu":
            return _integer_power(x, y)
        return _complex_power(x, y) if x.dtype.kind == "c" else numerics.widest(np.power, x, y)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, y = b.inputs
        dx = dy = None
        if b.needs[0]:
            slope = emit("Mul", y, emit("Pow", x, emit("SubScalar", y, 1, 1)))
            dx = reduce_to(emit("Mul", slope, b.dout), x)
        if b.needs[1]:
            dy = reduce_to(emit("Mul", b.dout, _slope_of_exponent(x, y, b.out)), y)
        return dx, dy


def _complex_power(x: Array, y: Array) -> Array:
    """e ** (y log x): NaN for the power 0 of 0."""
    return np.where((x == 0) & (y == 0), complex(np.nan, np.nan), np.power(x, y))


def _slope_of_exponent(x: Any, y: Any, out: Any) -> Any:
    """out * log(x), and 0 where x is 0 and y is not negative; a constant is computed at once."""
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
    """The power in float64, truncated; beyond the range of the target integer, the lowest value of that integer.

    Types of up to 32 bits are converted to Int32 first (UInt32: Int64), then wrap.
    """
    power = numerics.widest(np.power, x, y).astype(np.float64)
    if x.dtype == np.uint64:
        return power
    through = np.dtype(np.int64 if x.dtype in (np.int64, np.uint32) else np.int32)
    limit = 2.0 ** (8 * through.itemsize - 1)
    inside = (power >= -limit) & (power < limit)
    low = -(2 ** (8 * through.itemsize - 1))
    return np.where(inside, np.where(inside, power, 0).astype(through), low).astype(x.dtype)


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
