"""Neg."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.elementwise import Unary
from harness.framework.tensor import call as emit


@operator
class Neg(Unary):
    """-x; unsigned integers wrap."""

    name = "Neg"

    def kernel(self, call: Call, x: Array) -> Array:
        return np.negative(x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("Neg", b.dout),)
