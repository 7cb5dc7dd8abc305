"""Rint: the nearest whole number, of two the even one."""

from __future__ import annotations

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Call, operator
from harness.framework.ops.elementwise import Unary


@operator
class Rint(Unary):
    """x rounded to a whole number, halves to even."""

    name = "Rint"
    functional = False
    accepts = "f"

    def kernel(self, call: Call, x: Array) -> Array:
        return np.rint(numerics.wide(x))
