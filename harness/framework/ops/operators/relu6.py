"""ReLU6 and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.elementwise import Unary
from harness.framework.tensor import call as emit


@operator
class ReLU6(Unary):
    """min(max(x, 0), 6); NaN stays NaN."""

    name = "ReLU6"

    def kernel(self, call: Call, x: Array) -> Array:
        return np.clip(x, x.dtype.type(0), x.dtype.type(6))

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("ReLU6Grad", b.dout, b.inputs[0]),)


@operator
class ReLU6Grad(Unary):
    """dout where 0 < x <= 6, else 0."""

    name = "ReLU6Grad"

    def kernel(self, call: Call, dout: Array, x: Array) -> Array:
        return np.where((x > 0) & (x <= 6), dout, dout.dtype.type(0))
