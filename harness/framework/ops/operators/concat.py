"""Concat along an axis, and its gradient: pieces of given sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.framework.ops.eager import promote
from harness.framework.ops.expansion import Composite, cast
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec, TupleSpec


def members(call: Call) -> list[TensorSpec]:
    """Specs of the tensors of argument 0, a tuple of at least one."""
    spec = call.inputs[0]
    items = [s for s in spec.items if isinstance(s, TensorSpec)] if isinstance(spec, TupleSpec) else []
    if not isinstance(spec, TupleSpec) or not items or len(items) != len(spec.items):
        raise call.fail("a tuple of at least one tensor is needed")
    return items


@operator
class Concat(Operator):
    """The tensors of argument 0 behind one another along axis argument 1, in their strongest dtype."""

    name = "Concat"

    def infer(self, call: Call) -> Spec:
        items, (axis,) = members(call), ints(call, 1)
        rank = len(items[0].shape)
        if not -rank <= axis < rank:
            raise call.fail(f"axis {axis} lies outside {-rank}..{rank - 1}")
        at = axis % rank
        rest = {(*s.shape[:at], *s.shape[at + 1 :]) for s in items if -1 not in s.shape}
        if any(len(s.shape) != rank for s in items) or len(rest) > 1:
            raise call.fail(f"the shapes must agree on every axis but {axis}")
        lengths = [s.shape[at] for s in items]
        shape = list(items[0].shape)
        shape[at] = -1 if -1 in lengths else sum(lengths)
        return TensorSpec(promote([s.dtype for s in items]), tuple(shape))

    def kernel(self, call: Call, tensors: tuple[Array, ...], axis: int) -> Array:
        dtype = call.outputs()[0].dtype.numpy
        return np.concatenate([t.astype(dtype, copy=False) for t in tensors], axis)

    def gradient(self, b: Backward) -> Sequence[Any]:
        tensors, axis = b.inputs
        lengths = tuple(t.shape[axis] for t in tensors)
        parts = emit("SplitWithSize", b.dout, lengths, axis)
        return tuple(cast(p, t.dtype) for p, t in zip(parts, tensors, strict=True)), None


@operator
class SplitWithSize(Composite):
    """Pieces of lengths argument 1 along axis argument 2, by one Slice each."""

    name = "SplitWithSize"
    tensors = (0,)

    def expand(self, x: Any, lengths: Any, axis: Any) -> Any:
        axis, at, parts = axis % len(x.shape), 0, []
        for length in lengths:
            begin = tuple(at if a == axis else 0 for a in range(len(x.shape)))
            size = tuple(length if a == axis else n for a, n in enumerate(x.shape))
            # A piece that is the whole is not cut out (measured).
            parts.append(x if size == x.shape else emit("Slice", x, begin, size))
            at += length
        return tuple(parts)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return emit("Concat", tuple(b.dout), b.inputs[2]), None, None
