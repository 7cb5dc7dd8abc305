"""Flatten: all axes but the first become one; FlattenExt: some axes do."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from harness.errors import OperandError
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.expansion import Composite
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


@operator
class Flatten(Operator):
    """(n, a, b, ...) to (n, a * b * ...)."""

    name = "Flatten"
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        x = call.tensor(0)
        if not x.shape:
            raise call.fail("the tensor has no dimensions")
        rest = x.shape[1:]
        return TensorSpec(x.dtype, (x.shape[0], -1 if -1 in rest else prod(rest)))

    def kernel(self, call: Call, x: Array) -> Array:
        return x.reshape(x.shape[0], prod(x.shape[1:]))

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("Reshape", b.dout, b.inputs[0].shape),)


@operator
class FlattenExt(Composite):
    """x and the first and the last axis that become one."""

    name = "FlattenExt"
    tensors = (0,)

    def expand(self, x: Any, first: int, last: int) -> Any:
        shape, rank = tuple(x.shape), max(len(x.shape), 1)
        if not (-rank <= first < rank and -rank <= last < rank) or first % rank > last % rank:
            raise OperandError(f"FlattenExt: axes {first} to {last} are none of {len(shape)} dimensions")
        first, last = first % rank, last % rank
        return emit("Reshape", x, (*shape[:first], prod(shape[first : last + 1]), *shape[last + 1 :]))

    def gradient(self, b: Backward) -> Sequence[Any]:
        return emit("Reshape", b.dout, tuple(b.inputs[0].shape)), None, None
