"""Depend: a value, after another was computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.graph import Spec


@operator
class Depend(Operator):
    """Argument 0 itself; argument 1 only says what must run before. No kernel is launched in a graph."""

    name = "Depend"
    functional = False

    def infer(self, call: Call) -> Spec:
        return call.inputs[0]

    def kernel(self, call: Call, value: Array, _after: Any) -> Array:
        return value

    def gradient(self, b: Backward) -> Sequence[Any]:
        return b.dout, None
