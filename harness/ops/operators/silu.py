"""SiLU and its gradient, as MindSpore takes them apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.ops.base import Backward, operator
from harness.ops.expansion import Composite
from harness.tensor import call as emit


@operator
class SiLU(Composite):
    """x * sigmoid(x)."""

    name = "SiLU"
    tensors = (0,)

    def expand(self, x: Any) -> Any:
        return emit("Mul", x, emit("Sigmoid", x))

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("SiLUGrad", b.dout, b.inputs[0]),)


@operator
class SiLUGrad(Composite):
    """Arguments: dout, x."""

    name = "SiLUGrad"
    tensors = (0, 1)

    def expand(self, dout: Any, x: Any) -> Any:
        gate = emit("Sigmoid", x)
        return emit("Add", emit("SigmoidGrad", gate, emit("Mul", x, dout)), emit("Mul", gate, dout))
