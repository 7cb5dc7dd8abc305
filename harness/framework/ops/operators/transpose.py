"""Transpose: axes in another order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


@operator
class Transpose(Operator):
    """``x`` with its axes in the order of argument 1."""

    name = "Transpose"
    tensors = (0,)
    unread = frozenset({1})

    def infer(self, call: Call) -> Spec:
        x, order = call.tensor(0), ints(call, 1)
        rank = len(x.shape)
        if len(order) != rank or sorted(a % rank for a in order if -rank <= a < rank) != list(range(rank)):
            raise call.fail(f"the order {list(order)} must name each of the {rank} axes once")
        return TensorSpec(x.dtype, tuple(x.shape[a] for a in order))

    def kernel(self, call: Call, x: Array, order: tuple[int, ...]) -> Array:
        return x.transpose(order)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return emit("Transpose", b.dout, inverse(b.inputs[1])), None


def inverse(order: Sequence[int]) -> tuple[int, ...]:
    """The order of axes that undoes ``order``."""
    places = [a % len(order) for a in order]
    return tuple(places.index(a) for a in range(len(order)))
