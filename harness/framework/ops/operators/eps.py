"""Eps: the distance from 1 to the next number of a dtype."""

from __future__ import annotations

import numpy as np

from harness.framework.ops.base import Array, Call, Operator, operator
from harness.framework.ops.elementwise import check_kind
from harness.graph import Spec


@operator
class Eps(Operator):
    """x: its shape, filled with the distance."""

    name = "Eps"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "f", 0)
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array) -> Array:
        return np.full(x.shape, np.finfo(x.dtype).eps, np.float64)
