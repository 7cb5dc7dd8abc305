"""Gather rows by index, its gradient's sum by segment."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from harness.errors import KernelError, UnsupportedError
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import int_tensor, ints
from harness.framework.ops.operators.transpose import inverse
from harness.framework.tensor import Tensor
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


@operator
class Gather(Operator):
    """Slices of x at the indices of argument 1 along axis argument 2; argument 3 leading axes are shared (batch).

    An index below 0 counts from behind; one outside the axis fails.
    """

    name = "Gather"
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        x, at, batch = call.shape(0), *axis_and_batch(call)
        indices = call.shape(1)
        if call.dtype(1).kind not in "iu":
            raise call.fail("the indices must be integers")
        if not 0 <= batch <= min(at, len(indices)) or x[:batch] != indices[:batch]:
            raise call.fail(f"{batch} leading axes must be shared and stand before the axis")
        return TensorSpec(call.dtype(0), (*x[:at], *indices[batch:], *x[at + 1 :]))

    def kernel(self, call: Call, x: Array, indices: Array, _axis: Any, _batch: Any) -> Array:
        at, batch = axis_and_batch(call)
        length = x.shape[at]
        if indices.size and not -length <= int(indices.min()) <= int(indices.max()) < length:
            raise KernelError(f"{self.name}: an index lies outside {-length}..{length - 1}")
        safe = indices.astype(np.int64)
        if x.size == 0:
            return np.zeros(call.outputs()[0].shape, x.dtype)
        lead = prod(x.shape[:batch])
        flat = x.reshape(lead, *x.shape[batch:])
        rows = [
            np.take(part, i, at - batch) for part, i in zip(flat, safe.reshape(lead, *safe.shape[batch:]), strict=True)
        ]
        return np.stack(rows).reshape(call.outputs()[0].shape)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, indices, axis, batch = b.inputs
        rank = len(x.shape)
        at, batch = axis % rank, batch % max(1, len(indices.shape))
        if batch:
            return self._batched(b, at, batch), None, None, None
        dout, ids = b.dout, indices
        if not ids.shape:
            shape = (*dout.shape[:at], 1, *dout.shape[at:])
            dout, ids = emit("Reshape", dout, shape), emit("ExpandDims", ids, -1)
        if at == 0:
            return _segments(dout, ids, x.shape[0]), None, None, None
        order = _front(len(dout.shape), at, len(ids.shape))
        summed = _segments(emit("Transpose", dout, order), ids, x.shape[at])
        return emit("Transpose", summed, inverse(_front(rank, at, 1))), None, None, None

    def _batched(self, b: Backward, at: int, batch: int) -> Any:
        x, indices = b.inputs[:2]
        if at != batch:
            raise UnsupportedError(f"gradient of Gather with batch_dims {batch} along axis {at} is not supported")
        lead, length = tuple(x.shape[:batch]), x.shape[at]
        offsets = np.arange(prod(lead)).reshape(*lead, *[1] * (len(indices.shape) - batch)) * length
        ids = emit("Add", indices, Tensor(offsets.astype(indices.dtype.numpy), indices.dtype))
        return emit("Reshape", _segments(b.dout, ids, prod(lead) * length), x.shape)


def axis_and_batch(call: Call) -> tuple[int, int]:
    """The axis from the front, and the number of batch axes."""
    (axis,), (batch,) = ints(call, 2), ints(call, 3)
    rank = len(call.shape(0))
    if not -rank <= axis < rank:
        raise call.fail(f"axis {axis} lies outside {-rank}..{rank - 1}")
    return axis % rank, batch % len(call.shape(1)) if batch < 0 else batch


def _front(rank: int, at: int, count: int) -> tuple[int, ...]:
    """The order that brings ``count`` axes from ``at`` on to the front."""
    moved = range(at, at + count)
    return (*moved, *(a for a in range(rank) if a not in moved))


def _segments(values: Any, ids: Any, count: int) -> Any:
    return emit("UnsortedSegmentSum", values, ids, int_tensor(count))


@operator
class UnsortedSegmentSum(Operator):
    """Sums of the slices of x that share a segment number; argument 2 counts segments, negative numbers drop out."""

    name = "UnsortedSegmentSum"
    tensors = (0, 1)
    unread = frozenset({2})

    def infer(self, call: Call) -> Spec:
        x, ids, (count,) = call.shape(0), call.shape(1), ints(call, 2)
        if x[: len(ids)] != ids and -1 not in (*x, *ids):
            raise call.fail("the segment numbers must have the leading axes of the values")
        return TensorSpec(call.dtype(0), (count, *x[len(ids) :]))

    def kernel(self, call: Call, x: Array, ids: Array, _count: Any) -> Array:
        count, *rest = call.outputs()[0].shape
        if ids.size and ids.max() >= count:
            raise KernelError(f"{self.name}: segment number {ids.max()} of {count} segments")
        values = x if x.dtype.kind in "iu" else numerics.wide(x)
        out = np.zeros((count, *rest), values.dtype)
        for at, row in zip(ids.reshape(-1), values.reshape(ids.size, *rest), strict=True):
            if at >= 0:
                out[at] += row
        return out

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, ids, _count = b.inputs
        if -1 in (*x.shape, *ids.shape, *b.dout.shape):
            none, zeros = emit("ZerosLike", ids), None
        else:
            none = Tensor(np.zeros(ids.shape, ids.dtype.numpy))
            zeros = Tensor(np.zeros(x.shape, x.dtype.numpy))
        taken = emit("Gather", b.dout, emit("Maximum", ids, none), 0, 0, batch_dims=0)
        keep = emit("GreaterEqualScalar", ids, 0)
        extra = len(x.shape) - len(ids.shape)
        if extra:
            keep = emit("Reshape", keep, (*ids.shape, *[1] * extra))
        if zeros is not None:
            keep = emit("LogicalAnd", keep, Tensor(np.ones(x.shape, bool)))
        return emit("Select", keep, taken, emit("ZerosLike", taken) if zeros is None else zeros), None, None
