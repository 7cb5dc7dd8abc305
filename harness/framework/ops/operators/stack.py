"""Stack and Unstack: a new axis from, or to, a tuple."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.operators.concat import members
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec, TupleSpec


@operator
class Stack(Operator):
    """The tensors of argument 0, all alike, along a new axis (attribute ``axis``; ``num`` counts them)."""

    name = "Stack"
    functional = False

    def infer(self, call: Call) -> Spec:
        items, axis = members(call), call.attrs["axis"]
        first, rank = items[0], len(items[0].shape) + 1
        if not -rank <= axis < rank:
            raise call.fail(f"axis {axis} lies outside {-rank}..{rank - 1}")
        if any(s.shape != first.shape or s.dtype is not first.dtype for s in items):
            raise call.fail("all tensors must have one shape and one dtype")
        at = axis % rank
        return TensorSpec(first.dtype, (*first.shape[:at], len(items), *first.shape[at:]))

    def kernel(self, call: Call, tensors: tuple[Array, ...]) -> Array:
        return np.stack(tensors, call.attrs["axis"])

    def gradient(self, b: Backward) -> Sequence[Any]:
        count, axis = len(b.inputs[0]), b.attrs["axis"]
        return (emit("Unstack", b.dout, output_names=("y",), input_names=("x",), num=count, axis=axis),)


@operator
class Unstack(Operator):
    """The slices along attribute ``axis``, without it, as a tuple."""

    name = "Unstack"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        x, axis = call.tensor(0), call.attrs["axis"]
        rank = len(x.shape)
        if not -rank <= axis < rank:
            raise call.fail(f"axis {axis} lies outside {-rank}..{rank - 1}")
        count, at = x.shape[axis], axis % rank
        if count < 1:
            raise call.fail(f"axis {axis} must have a known length above 0")
        return TupleSpec((TensorSpec(x.dtype, (*x.shape[:at], *x.shape[at + 1 :])),) * count)

    def kernel(self, call: Call, x: Array) -> tuple[Array, ...]:
        return tuple(np.moveaxis(x, call.attrs["axis"], 0))

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("Stack", tuple(b.dout), num=len(b.dout), axis=b.attrs["axis"]),)
