"""Invert: flips every bit of an integer."""

from __future__ import annotations

import numpy as np

from harness.framework.ops.base import Array, Call, operator
from harness.framework.ops.elementwise import Unary


@operator
class Invert(Unary):
    """~x of integers."""

    name = "Invert"
    functional = False
    accepts = "iu"

    def kernel(self, call: Call, x: Array) -> Array:
        return np.invert(x)
