"""Exp and Expm1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops.base import Array, Backward, operator
from harness.framework.ops.elementwise import Floating
from harness.framework.tensor import call as emit

#: settings an ``Exp`` node of a gradient shows (measured); those of the forward graph show none
EXP: dict[str, Any] = {"shift": 0.0, "scale": 1.0, "base": -1.0}


@operator
class Exp(Floating):
    """e ** x."""

    name = "Exp"
    steady = True

    @staticmethod
    def function(x: Array) -> Array:
        return np.exp(x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("Mul", b.dout, b.out),)


@operator
class Expm1(Floating):
    """e ** x - 1, exact near 0."""

    name = "Expm1"

    @staticmethod
    def function(x: Array) -> Array:
        return np.expm1(x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("Mul", b.dout, emit("AddScalar", b.out, 1, 1)),)
