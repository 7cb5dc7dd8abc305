"""Gcd and Lcm of whole numbers."""

from __future__ import annotations

import numpy as np

from harness.framework.ops.base import Array, Call, operator
from harness.framework.ops.elementwise import Binary, as_result


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
