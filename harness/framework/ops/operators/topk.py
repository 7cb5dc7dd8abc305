"""TopK: the largest elements of the last axis."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from harness import dtypes
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.elementwise import check_kind, is_wide
from harness.framework.ops.selection import largest
from harness.framework.tensor import Tensor
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec, TupleSpec


@operator
class TopK(Operator):
    """Arguments: tensor, k (an Int32 0-d tensor). Gives values from largest to smallest, and indices (Int32)."""

    name = "TopK"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "iuf", 0)
        shape, given = call.shape(0), call.values[1]
        k = int(np.asarray(given)) if given is not None else -1
        if not shape or (shape[-1] != -1 and k > shape[-1]) or k < -1:
            raise call.fail(f"k = {k} elements are asked for")
        out = (*shape[:-1], k)
        return TupleSpec((TensorSpec(call.dtype(0), out), TensorSpec(dtypes.int32, out)))

    def kernel(self, call: Call, x: Array, k: Any) -> tuple[Array, Array]:
        keys = numerics.wide(x) if is_wide(x) else x.astype(np.int64 if x.dtype.kind == "i" else np.uint64)
        order = largest(keys, int(np.asarray(k)), bool(call.attrs.get("sorted", True)))
        return np.take_along_axis(x, order, -1), order.astype(np.int32)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x = b.inputs[0]
        length, k = x.shape[-1], b.out[0].shape[-1]
        count = prod(x.shape)
        index = b.out[1]
        rows = count // max(1, length)
        if len(x.shape) > 1:
            starts = np.arange(0, count, length, dtype=np.int32).reshape(rows, 1)
            # Of a matrix the rows are counted; of more axes they are left to find (measured).
            index = emit("Add", emit("Reshape", index, (-1, k) if len(x.shape) > 2 else (rows, k)), Tensor(starts))
        index = emit("Reshape", index, (-1, 1))
        flat = emit("ScatterNd", index, emit("Reshape", b.dout[0], (-1,)), (count,))
        return emit("Reshape", flat, tuple(x.shape)), None
