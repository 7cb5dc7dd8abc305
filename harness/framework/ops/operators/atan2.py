"""Atan2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.broadcast import reduce_to
from harness.framework.ops.elementwise import Binary
from harness.framework.tensor import call as emit


@operator
class Atan2(Binary):
    """The angle of the point (y, x) = (argument 0, argument 1)."""

    name = "Atan2"
    accepts = "f"

    def kernel(self, call: Call, y: Array, x: Array) -> Array:
        return numerics.widest(np.arctan2, y, x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        y, x = b.inputs
        share = emit("RealDiv", b.dout, emit("Add", emit("Square", y), emit("Square", x)))
        dy = reduce_to(emit("Mul", share, x), y) if b.needs[0] else None
        dx = reduce_to(emit("Mul", share, emit("Neg", y)), x) if b.needs[1] else None
        return dy, dx
