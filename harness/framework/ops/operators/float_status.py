"""FloatStatus: whether a value of a tensor is not finite."""

from __future__ import annotations

import numpy as np

from harness import dtypes
from harness.framework.ops.base import Array, Call, Operator, operator
from harness.framework.ops.elementwise import check_kind
from harness.graph import Spec, TensorSpec


@operator
class FloatStatus(Operator):
    """1.0 where a value is infinite or NaN, else 0.0, as Float32 (1,)."""

    name = "FloatStatus"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "f", 0)
        return TensorSpec(dtypes.float32, (1,))

    def kernel(self, call: Call, x: Array) -> Array:
        return np.array([0.0 if np.isfinite(x.astype(np.float64)).all() else 1.0])
