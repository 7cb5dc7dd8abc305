"""TensorScatterUpdate and TensorScatterElements: a copy of a tensor with elements replaced or added."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.errors import UnsupportedError
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.framework.ops.operators.gather_d import check_index, places
from harness.framework.ops.operators.gather_nd import coordinates
from harness.framework.tensor import Tensor
from harness.framework.tensor import call as emit
from harness.graph import Spec

#: values of the ``reduction`` argument
NONE, ADD = 0, 1


def _zeros(like: Any) -> Tensor:
    return Tensor(np.zeros(like.shape, like.dtype.numpy), like.dtype)


@operator
class TensorScatterUpdate(Operator):
    """x with the slices at the coordinates of argument 1 replaced by argument 2; the last one wins."""

    name = "TensorScatterUpdate"
    functional = False
    tensors = (0, 1, 2)

    def infer(self, call: Call) -> Spec:
        x, indices, updates = call.shape(0), call.shape(1), call.shape(2)
        if not indices or indices[-1] > len(x) or call.dtype(1).kind not in "iu":
            raise call.fail("the last axis of the indices must hold at most one integer for each axis of x")
        if -1 not in (*indices, *updates, *x) and updates != (*indices[:-1], *x[indices[-1] :]):
            raise call.fail(f"the updates must have shape {[*indices[:-1], *x[indices[-1] :]]}")
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array, indices: Array, updates: Array) -> Array:
        out = x.copy()
        rows = indices.reshape(-1, indices.shape[-1])
        for at, value in zip(rows, updates.reshape(len(rows), *x.shape[indices.shape[-1] :]), strict=True):
            out[coordinates(self.name, at, x.shape)] = value
        return out

    def gradient(self, b: Backward) -> Sequence[Any]:
        _x, indices, updates = b.inputs
        attrs: dict[str, Any] = {"output_names": ("y",), "input_names": ("input_x", "indices", "updates")}
        dx = emit(self.name, b.dout, indices, _zeros(updates), **attrs) if b.needs[0] else None
        return dx, None, emit("GatherNd", b.dout, indices) if b.needs[2] else None


@operator
class TensorScatterElements(Operator):
    """x, indices, updates, axis, reduction: elements along the axis replaced (0) or added to (1)."""

    name = "TensorScatterElements"
    tensors = (0, 1, 2)

    def infer(self, call: Call) -> Spec:
        (axis,), (how,) = ints(call, 3), ints(call, 4)
        check_index(call, call.shape(0), axis, call.shape(1), call.dtype(1).kind)
        if call.shape(1) != call.shape(2) or how not in (NONE, ADD):
            raise call.fail("indices and updates must have one shape, and the reduction be 0 (none) or 1 (add)")
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array, indices: Array, updates: Array, axis: int, how: int) -> Array:
        if how == ADD:
            out = x.copy() if x.dtype.kind in "iu" else numerics.wide(x).copy()
            np.add.at(out, places(indices, axis, x.shape[axis]), updates.astype(out.dtype))
            return out
        out = x.copy()
        grid = np.broadcast_arrays(*places(indices, axis, x.shape[axis]))
        for at, value in zip(zip(*(g.reshape(-1) for g in grid), strict=True), updates.reshape(-1), strict=True):
            out[at] = value
        return out

    def gradient(self, b: Backward) -> Sequence[Any]:
        _x, indices, updates, axis, how = b.inputs
        if how != NONE:
            if b.needs[0] and not b.needs[2]:
                return b.dout, None, None, None, None
            raise UnsupportedError(f"gradient of {self.name} with a reduction is not supported")
        dx = emit(self.name, b.dout, indices, _zeros(updates), axis, NONE) if b.needs[0] else None
        return dx, None, emit("GatherD", b.dout, axis, indices) if b.needs[2] else None, None, None
