"""L2Loss: half the sum of squares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.elementwise import check_kind
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


@operator
class L2Loss(Operator):
    """sum(x ** 2) / 2, a number."""

    name = "L2Loss"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "f", 0)
        return TensorSpec(call.dtype(0), ())

    def kernel(self, call: Call, x: Array) -> Array:
        values = numerics.wide(x)
        return numerics.total(values * values) / 2

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("Mul", b.inputs[0], b.dout),)
