"""Sinh and Cosh."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops.base import Array, Backward, operator
from harness.framework.ops.elementwise import Floating
from harness.framework.tensor import call as emit


@operator
class Sinh(Floating):
    """Hyperbolic sine."""

    name = "Sinh"

    @staticmethod
    def function(x: Array) -> Array:
        return np.sinh(x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("Mul", emit("Cosh", b.inputs[0]), b.dout),)


@operator
class Cosh(Floating):
    """Hyperbolic cosine."""

    name = "Cosh"

    @staticmethod
    def function(x: Array) -> Array:
        return np.cosh(x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("Mul", emit("Sinh", b.inputs[0]), b.dout),)
