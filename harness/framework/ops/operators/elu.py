"""Elu and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.elementwise import Floating, Unary
from harness.framework.tensor import call as emit


@operator
class Elu(Floating):
    """x above 0, else alpha * (e ** x - 1); argument 1 is alpha."""

    name = "Elu"
    arguments = 2

    def kernel(self, call: Call, x: Array, *settings: Any) -> Array:
        wide = numerics.wide(x).astype(np.longdouble)
        return np.where(wide > 0, wide, float(settings[0]) * np.expm1(np.minimum(wide, 0)))

    def gradient(self, b: Backward) -> Sequence[Any]:
        return emit("EluGrad", b.dout, b.out), None


@operator
class EluGrad(Unary):
    """Arguments: dout, out (for alpha 1)."""

    name = "EluGrad"

    def kernel(self, call: Call, *args: Array) -> Array:
        dout, out = (numerics.wide(a) for a in args)
        return np.where(out < 0, dout * (out + 1), dout)
