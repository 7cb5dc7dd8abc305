"""Logit: log(x / (1 - x))."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.elementwise import Unary
from harness.framework.tensor import call as emit


def _inside(x: Array, eps: float) -> Array:
    # MindSpore rounds both bounds to the tensor's dtype (measured): 1 - 1e-6 is 0.99999899 in float32.
    wide = numerics.wide(x).astype(np.longdouble)
    low, high = (numerics.wide(np.asarray(bound).astype(x.dtype)).astype(np.longdouble) for bound in (eps, 1 - eps))
    return wide if eps < 0 else np.clip(wide, low, high)


@operator
class Logit(Unary):
    """x, and how far from 0 and 1 it is kept (below 0: as it is)."""

    name = "Logit"
    accepts = "f"

    def kernel(self, call: Call, x: Array, eps: float) -> Array:
        inside = _inside(x, eps)
        return np.asarray(np.log(inside / (1 - inside)))

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, eps = b.inputs
        return emit("LogitGrad", b.dout, x, eps), None


@operator
class LogitGrad(Unary):
    """dout, x and the bound: 0 outside of it; without one NaN outside of 0 and 1."""

    name = "LogitGrad"
    tensors = (0, 1)  # type: ignore[assignment]
    accepts = "f"

    def kernel(self, call: Call, dout: Array, x: Array, eps: float) -> Array:
        wide = numerics.wide(x).astype(np.longdouble)
        low, high = max(eps, 0.0), 1 - max(eps, 0.0)
        inside = (wide >= low) & (wide <= high)
        return np.where(inside, dout / (wide * (1 - wide)), 0 if eps >= 0 else np.nan)
