"""Sin, Cos and Tan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops.base import Array, Backward, operator
from harness.framework.ops.elementwise import Floating
from harness.framework.tensor import call as emit


@operator
class Sin(Floating):
    """Sine."""

    name = "Sin"
    steady = True

    @staticmethod
    def function(x: Array) -> Array:
        return np.sin(x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("Mul", b.dout, emit("Cos", b.inputs[0])),)


@operator
class Cos(Floating):
    """Cosine."""

    name = "Cos"
    steady = True

    @staticmethod
    def function(x: Array) -> Array:
        return np.cos(x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("Mul", b.dout, emit("Neg", emit("Sin", b.inputs[0]))),)


@operator
class Tan(Floating):
    """Tangent."""

    name = "Tan"

    @staticmethod
    def function(x: Array) -> Array:
        return np.tan(x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("Mul", b.dout, emit("AddScalar", emit("Square", b.out), 1, 1)),)
