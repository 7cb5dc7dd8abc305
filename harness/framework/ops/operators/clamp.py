"""The bounds of ``clamp``: ClampScalar for numbers, ClampTensor for tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.framework.ops.base import Backward, operator
from harness.framework.ops.broadcast import reduce_to
from harness.framework.ops.expansion import Composite, beside, scalar
from harness.framework.tensor import call as emit


@operator
class ClampScalar(Composite):
    """Arguments: tensor, lower bound or None, upper bound or None (numbers)."""

    name = "ClampScalar"
    tensors = (0,)

    def expand(self, x: Any, low: Any, high: Any) -> Any:
        if low is not None:
            x = emit("Maximum", *beside(x, low))
        if high is not None:
            x = emit("Minimum", *beside(x, high))
        return x

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, low, high = b.inputs
        parts = []
        if low is not None:
            parts.append(emit("GreaterEqual", x, scalar(low, x.dtype)))
        if high is not None:
            parts.append(emit("LessEqual", x, scalar(high, x.dtype)))
        return _where(parts[0] if len(parts) == 1 else emit("LogicalAnd", *parts), b.dout, x), None, None


@operator
class ClampTensor(Composite):
    """Arguments: tensor, lower bound or None, upper bound or None (tensors)."""

    name = "ClampTensor"

    def expand(self, x: Any, low: Any, high: Any) -> Any:
        if low is not None:
            x = emit("Maximum", x, low)
        if high is not None:
            x = emit("Minimum", x, high)
        return x

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, low, high = b.inputs
        above = emit("GreaterEqual", x, low) if low is not None else None
        below = emit("LessEqual", x, high) if high is not None else None
        dx = _where(_both("LogicalAnd", above, below), b.dout, x)
        dlow = dhigh = None
        if low is not None and b.needs[1]:
            ordered = emit("Less", low, high) if high is not None else None
            dlow = _where(_both("LogicalAnd", emit("Less", x, low), ordered), b.dout, low)
        if high is not None and b.needs[2]:
            crossed = emit("Less", high, low) if low is not None else None
            dhigh = _where(_both("LogicalOr", emit("Greater", x, high), crossed), b.dout, high)
        return dx, dlow, dhigh


def _both(op: str, first: Any, second: Any) -> Any:
    """The two conditions joined, or the one there is."""
    return second if first is None else first if second is None else emit(op, first, second)


def _where(condition: Any, dout: Any, operand: Any) -> Any:
    return reduce_to(emit("Select", condition, dout, scalar(0, dout.dtype)), operand)
