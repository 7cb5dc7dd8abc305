"""Erf and Erfc."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from harness.framework.ops import special
from harness.framework.ops.base import Backward, operator
from harness.framework.ops.elementwise import Floating
from harness.framework.ops.operators.exp import EXP
from harness.framework.tensor import call as emit


class _Error(Floating):
    """Base of the error function's family; its slope is ``factor * e ** -(x ** 2)``."""

    factor: ClassVar[float]

    def gradient(self, b: Backward) -> Sequence[Any]:
        square = emit("PowTensorScalar", b.inputs[0], 2)
        slope = emit("Muls", emit("Exp", emit("Neg", square), **EXP), self.factor)
        return (emit("Mul", slope, b.dout),)


@operator
class Erf(_Error):
    """The error function."""

    name = "Erf"
    factor = 2 / math.sqrt(math.pi)
    function = staticmethod(special.erf)


@operator
class Erfc(_Error):
    """1 - erf(x)."""

    name = "Erfc"
    factor = -2 / math.sqrt(math.pi)
    function = staticmethod(special.erfc)
