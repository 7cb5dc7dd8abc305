"""Abs and Sign."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.elementwise import Unary
from harness.framework.tensor import call as emit


@operator
class Abs(Unary):
    """|x|."""

    name = "Abs"
    accepts = "biufc"

    def kernel(self, call: Call, x: Array) -> Array:
        return np.abs(x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("Mul", b.dout, emit("Sign", b.inputs[0])),)


@operator
class Sign(Unary):
    """-1, 0 or 1; NaN gives 0 (measured). Of a complex number it over its size."""

    name = "Sign"

    def kernel(self, call: Call, x: Array) -> Array:
        if x.dtype.kind == "c":
            size = np.abs(x)
            return np.where(size == 0, 0, x / np.where(size == 0, 1, size))
        return np.where(x > 0, 1, np.where(x < 0, -1, 0))

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (None,)
