"""LeftShift and RightShift of whole numbers."""

from __future__ import annotations

import numpy as np

from harness.framework.ops.base import Array, Call, operator
from harness.framework.ops.elementwise import Binary, as_result


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
