"""Bincount: how often each number occurs, or the weights of its occurrences."""

from __future__ import annotations

import numpy as np

from harness import dtypes
from harness.errors import SettingError
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Call, Operator, operator
from harness.framework.ops.elementwise import check_kind
from harness.graph import Spec, TensorSpec


@operator
class Bincount(Operator):
    """x (n,) of whole numbers from 0 on, least length, weights (n,) or None: Float32 (max(x) + 1 at least,)."""

    name = "Bincount"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "iu", 0)
        if len(call.shape(0)) != 1:
            raise call.fail("a tensor of one axis is needed")
        if isinstance(call.inputs[2], TensorSpec) and call.shape(2) != call.shape(0):
            raise call.fail("the weights must have the shape of the numbers")
        return TensorSpec(dtypes.float32, (-1,))

    def kernel(self, call: Call, x: Array, least: int, weights: Array | None) -> Array:
        if np.any(x < 0):
            raise SettingError("bincount: no number may be negative")
        out = np.zeros(max(int(x.max(initial=-1)) + 1, least), np.float64)
        np.add.at(out, x, 1.0 if weights is None else numerics.wide(weights))
        return out
