"""Heaviside."""

from __future__ import annotations

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Call, operator
from harness.framework.ops.elementwise import Binary, is_wide


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
