"""Collective operators of a group of one process: each returns its argument.

Source: the definition of each (a sum, a concatenation, a choice over the members of the group). A real CPU has them
only in a process that a launcher of several started.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.tensor import call as emit
from harness.graph import Spec


class _OfOne(Operator):
    """The argument itself."""

    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array) -> Array:
        return x

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit(self.name, b.dout, **b.attrs),)


@operator
class AllReduce(_OfOne):
    """The sum (largest, smallest, product) of a tensor over the group."""

    name = "AllReduce"


@operator
class AllGather(_OfOne):
    """The tensors of the group, one after the other along the first axis."""

    name = "AllGather"

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("ReduceScatter", b.dout, **{**b.attrs, "op": "sum"}),)


@operator
class ReduceScatter(_OfOne):
    """This process's part of the sum over the group."""

    name = "ReduceScatter"

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("AllGather", b.dout, **{k: v for k, v in b.attrs.items() if k != "op"}),)
