"""Gcd, Lcm, LeftShift and RightShift of whole numbers; Heaviside and NextAfter of floating ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import KernelError
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.broadcast import reduce_to
from harness.framework.ops.elementwise import Binary, as_result, is_wide
from harness.framework.tensor import Tensor
from harness.framework.tensor import call as emit
from harness.graph import Spec


@operator
class Gcd(Binary):
    """The greatest common divisor."""

    name = "Gcd"
    accepts = "iu"

    def kernel(self, call: Call, x: Array, y: Array) -> Array:
        return np.gcd(*as_result(call, x, y))


@operator
class Lcm(Binary):
    """The least common multiple."""

    name = "Lcm"
    functional = False
    accepts = "iu"

    def kernel(self, call: Call, x: Array, y: Array) -> Array:
        return np.lcm(*as_result(call, x, y))


class _Shift(Binary):
    accepts = "iu"

    @staticmethod
    def places(y: Array) -> Array:
        """By how many bits: what is left of y by the width of the dtype, at least 32, as processors count (measured);
        of 8 and 16 bits none is left then."""
        return np.asarray(y & np.array(max(8 * y.itemsize, 32) - 1, y.dtype))


@operator
class LeftShift(_Shift):
    """x's bits moved up by y."""

    name = "LeftShift"

    def kernel(self, call: Call, x: Array, y: Array) -> Array:
        first, second = as_result(call, x, y)
        places = self.places(second)
        return np.where(places < 8 * first.itemsize, np.left_shift(first, places), 0)


@operator
class RightShift(_Shift):
    """x's bits moved down by y."""

    name = "RightShift"

    def kernel(self, call: Call, x: Array, y: Array) -> Array:
        first, second = as_result(call, x, y)
        return np.right_shift(first, np.minimum(self.places(second), 8 * first.itemsize - 1))


@operator
class Heaviside(Binary):
    """0 below 0, 1 above, the second at 0."""

    name = "Heaviside"
    functional = False
    same_dtype = ()
    accepts = "biuf"

    def kernel(self, call: Call, x: Array, y: Array) -> Array:
        first, second = np.broadcast_arrays(*((numerics.wide(v) if is_wide(v) else v) for v in (x, y)))
        return np.where(first == 0, second, (first > 0).astype(second.dtype))


@operator
class NextAfter(Binary):
    """The next number after x on the way to y."""

    name = "NextAfter"
    accepts = "f"

    def infer(self, call: Call) -> Spec:
        spec = super().infer(call)
        if call.dtype(0) not in (dtypes.float32, dtypes.float64):
            raise KernelError("NextAfter takes Float32 and Float64 tensors alone; cast the arguments (ops.cast)")
        return spec

    def kernel(self, call: Call, x: Array, y: Array) -> Array:
        # Float32 numbers, too, are moved as float64, and rounded (measured): most of them stay where they are.
        return np.asarray(np.nextafter(numerics.wide(x), numerics.wide(y)))

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, y = b.inputs
        zeros = Tensor(np.zeros(tuple(b.dout.shape), y.dtype.numpy), y.dtype)
        return reduce_to(b.dout, x), reduce_to(emit("Mul", zeros, b.dout), y)
