"""Assign, AssignAdd, AssignSub: a parameter's values replaced or changed in place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.elementwise import as_result
from harness.framework.tensor import call as emit
from harness.graph import Spec


class _Assignment(Operator):
    """Writes into argument 0 and gives it back."""

    tensors = (0, 1)
    follows: ClassVar[Mapping[int, int]] = {1: 0}
    mutates = (0,)
    side_effect = "memory"

    def infer(self, call: Call) -> Spec:
        target, value = call.tensor(0), call.tensor(1)
        if target.shape != value.shape:
            raise call.fail("the value must have the parameter's shape")
        return target

    def value(self, target: Array, value: Array) -> Array:
        """The new value of argument 0, from operands prepared for its dtype."""
        raise NotImplementedError

    def kernel(self, call: Call, target: Array, value: Array) -> Array:
        new = self.value(*as_result(call, target, value))
        target[...] = numerics.finish(new, call.dtype(0))
        return target

    def gradient(self, b: Backward) -> Sequence[Any]:
        # The result's gradient is that of what was written over, too (measured).
        return b.dout, None


@operator
class Assign(_Assignment):
    """parameter = value."""

    name = "Assign"

    def value(self, target: Array, value: Array) -> Array:
        return value


@operator
class AssignAdd(_Assignment):
    """parameter += value."""

    name = "AssignAdd"

    def value(self, target: Array, value: Array) -> Array:
        return target + value

    def gradient(self, b: Backward) -> Sequence[Any]:
        return b.dout, b.dout


@operator
class AssignSub(_Assignment):
    """parameter -= value."""

    name = "AssignSub"

    def value(self, target: Array, value: Array) -> Array:
        return target - value

    def gradient(self, b: Backward) -> Sequence[Any]:
        return b.dout, emit("Neg", b.dout)
