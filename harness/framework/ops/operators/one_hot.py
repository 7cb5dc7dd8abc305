"""OneHot: a new axis with one value where the index is, another elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.graph import Spec, TensorSpec


@operator
class OneHot(Operator):
    """indices, depth, on value, off value, axis; an index outside the depth gives the off value everywhere."""

    name = "OneHot"
    tensors = (0, 2, 3)
    same_dtype = (2, 3)
    unread = frozenset({1})

    def infer(self, call: Call) -> Spec:
        indices, (depth,), (axis,) = call.shape(0), ints(call, 1), ints(call, 4)
        rank = len(indices) + 1
        if depth < 0 or not -1 <= axis < rank or call.dtype(0).kind not in "iu":
            raise call.fail(f"integer indices, a depth of at least 0 and an axis in -1..{rank - 1} are needed")
        at = axis % rank
        return TensorSpec(call.dtype(2), (*indices[:at], depth, *indices[at:]))

    def kernel(self, call: Call, indices: Array, depth: int, on: Array, off: Array, axis: int) -> Array:
        at = axis % (indices.ndim + 1)
        depths = np.arange(depth).reshape(-1, *[1] * (indices.ndim - at))
        return np.where(np.expand_dims(indices, at) == depths, on.reshape(()), off.reshape(()))

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (None,) * 5
