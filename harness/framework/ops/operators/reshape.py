"""Reshape: the same elements under other dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


@operator
class Reshape(Operator):
    """``x`` with the shape of argument 1; one dimension of it may be -1."""

    name = "Reshape"
    tensors = (0,)
    unread = frozenset({1})

    def infer(self, call: Call) -> Spec:
        x, wanted = call.tensor(0), call.values[1]
        wanted = tuple(int(d) for d in (wanted if isinstance(wanted, (tuple, list)) else (wanted,)))
        if sum(d == -1 for d in wanted) > 1 or any(d < -1 for d in wanted):
            raise call.fail(f"{list(wanted)} may hold one -1 and nothing below it")
        known = prod(d for d in wanted if d != -1)
        if x.size < 0:
            return TensorSpec(x.dtype, wanted)
        if -1 in wanted:
            if known == 0 or x.size % known:
                raise call.fail(f"{x.size} elements do not fill the shape {list(wanted)}")
            wanted = tuple(x.size // known if d == -1 else d for d in wanted)
        elif known != x.size:
            raise call.fail(f"{x.size} elements do not fill the shape {list(wanted)}")
        return TensorSpec(x.dtype, wanted)

    def kernel(self, call: Call, x: Array, shape: tuple[int, ...]) -> Array:
        return x.reshape(shape)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return emit("Reshape", b.dout, b.inputs[0].shape), None
