"""SiLU and its gradient, as MindSpore takes them apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.framework.ops.base import Backward, operator
from harness.framework.ops.expansion import Composite, scalar
from harness.framework.tensor import call as emit


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

    def gradient(self, b: Backward) -> Sequence[Any]:
        dout, x = b.inputs
        gate = emit("Sigmoid", x)
        steep = emit("SigmoidGrad", gate, b.dout)
        ddout = emit("Add", emit("Mul", gate, b.dout), emit("Mul", x, steep))
        curved = emit("Mul", emit("Mul", dout, x), b.dout)
        bent = emit("Mul", curved, emit("Sub", scalar(1, x.dtype), emit("Muls", gate, 2.0)))
        inner = emit("Add", bent, emit("Mul", dout, b.dout))
        return ddout, emit("Add", emit("Mul", dout, steep), emit("SigmoidGrad", gate, inner))
