"""SoftplusExt: a smooth form of max(x, 0), sharper by a factor, exact where x is large."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Call, Operator, operator
from harness.graph import Spec


@operator
class SoftplusExt(Operator):
    """log(1 + e ** (beta * x)) / beta, and x itself where beta * x lies above the threshold: x, beta, threshold."""

    name = "SoftplusExt"
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array, beta: Any, threshold: Any) -> Array:
        scaled = numerics.wide(x).astype(np.longdouble) * float(beta)
        smooth = (np.log1p(np.exp(-np.abs(scaled))) + np.maximum(scaled, 0)) / float(beta)
        return np.asarray(np.where(scaled > float(threshold), x, smooth))
