"""LinSpace: evenly spaced numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.graph import Spec, TensorSpec


@operator
class LinSpace(Operator):
    """Arguments: start, end (0-d tensors), how many (a number, at least 1)."""

    name = "LinSpace"
    tensors = (0, 1)
    same_dtype = (0, 1)

    def infer(self, call: Call) -> Spec:
        if call.shape(0) or call.shape(1) or not isinstance(call.values[2], int) or call.values[2] < 1:
            raise call.fail("two 0-d tensors and a count of at least 1 are needed")
        return TensorSpec(call.dtype(0), (call.values[2],))

    def kernel(self, call: Call, start: Array, end: Array, steps: int) -> Array:
        first, last = numerics.wide(start), numerics.wide(end)
        at = np.arange(steps, dtype=np.float64)
        return first + (last - first) * at / max(1, steps - 1)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return None, None, None
