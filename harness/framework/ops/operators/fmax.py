"""Fmax: the larger of two, or the one that is a number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops.base import Array, Backward, Call, operator
from harness.framework.ops.broadcast import reduce_to
from harness.framework.ops.elementwise import Binary, as_result
from harness.framework.ops.expansion import scalar
from harness.framework.tensor import call as emit


@operator
class Fmax(Binary):
    """The larger of x and y, the other one where one is NaN."""

    name = "Fmax"
    functional = False
    accepts = "if"

    def kernel(self, call: Call, x: Array, y: Array) -> Array:
        return np.asarray(np.fmax(*as_result(call, x, y)))

    def gradient(self, b: Backward) -> Sequence[Any]:
        """``dout`` where an operand was taken, NaN included; of equal ones the first (MindSpore's graph, measured)."""
        x, y = b.inputs
        x_is_nan, y_is_nan = emit("IsNan", x), emit("IsNan", y)
        y_is_number = emit("LogicalNot", y_is_nan)
        x_leads = emit("LogicalAnd", emit("GreaterEqual", x, y), emit("LogicalNot", x_is_nan))
        y_leads = emit("LogicalAnd", emit("Greater", y, x), y_is_number)
        first = emit("LogicalOr", x_leads, y_is_nan)
        second = emit("LogicalOr", y_leads, emit("LogicalAnd", x_is_nan, y_is_number))
        dx = reduce_to(_given(x, first, b.dout), x) if b.needs[0] else None
        return dx, reduce_to(_given(y, second, b.dout), y) if b.needs[1] else None


def _given(x: Any, taken: Any, dout: Any) -> Any:
    """``dout`` times 1 where ``x`` was taken, 0 elsewhere."""
    ones = emit("MaskedFill", x, taken, scalar(1.0, x.dtype))
    return emit("Mul", emit("MaskedFill", ones, emit("LogicalNot", taken), scalar(0.0, x.dtype)), dout)
