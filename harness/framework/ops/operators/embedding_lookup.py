"""EmbeddingLookup: rows of a table; indices outside of it give zeros."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


@operator
class EmbeddingLookup(Operator):
    """Table, indices, what is subtracted from each index."""

    name = "EmbeddingLookup"
    functional = False
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        if call.dtype(1).kind not in "iu":
            raise call.fail("the indices must be integers")
        return TensorSpec(call.dtype(0), (*call.shape(1), *call.shape(0)[1:]))

    def kernel(self, call: Call, table: Array, indices: Array, offset: Any) -> Array:
        at = indices.astype(np.int64) - int(np.asarray(offset))
        inside = (at >= 0) & (at < len(table))
        rows = table[np.where(inside, at, 0)]
        return np.where(inside.reshape(*inside.shape, *([1] * (table.ndim - 1))), rows, table.dtype.type(0))

    def gradient(self, b: Backward) -> Sequence[Any]:
        table, indices, _offset = b.inputs
        return emit("UnsortedSegmentSum", b.dout, indices, int(table.shape[0])), None, None
