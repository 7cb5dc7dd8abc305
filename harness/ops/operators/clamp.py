"""The bounds of ``clamp``: ClampScalar for numbers, ClampTensor for tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.ops.base import Backward, operator
from harness.ops.broadcast import reduce_to
from harness.ops.expansion import Composite, beside, scalar
from harness.tensor import call as emit


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
        inside = parts[0] if len(parts) == 1 else emit("LogicalAnd", *parts)
        return reduce_to(emit("Select", inside, b.dout, scalar(0, b.dout.dtype)), x), None, None


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
