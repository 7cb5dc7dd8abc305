"""SigmoidCrossEntropyWithLogits: cross entropy of two classes, element by element, and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.tensor import call as emit
from harness.graph import Spec


@operator
class SigmoidCrossEntropyWithLogits(Operator):
    """Scores and labels of one shape."""

    name = "SigmoidCrossEntropyWithLogits"
    functional = False
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        if call.shape(0) != call.shape(1):
            raise call.fail("scores and labels must have one shape")
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array, labels: Array) -> Array:
        score, label = numerics.wide(x).astype(np.longdouble), numerics.wide(labels)
        return np.asarray(np.maximum(score, 0) - score * label + np.log1p(np.exp(-np.abs(score))))

    def gradient(self, b: Backward) -> Sequence[Any]:
        attrs: dict[str, Any] = {"output_names": ("x_grad",), "input_names": ("x", "y", "dout")}
        x, labels = b.inputs
        dx = emit("SigmoidCrossEntropyWithLogitsGrad", x, labels, b.dout, **attrs) if b.needs[0] else None
        return dx, None


@operator
class SigmoidCrossEntropyWithLogitsGrad(Operator):
    """Scores, labels, dout."""

    name = "SigmoidCrossEntropyWithLogitsGrad"
    functional = False
    tensors = (0, 1, 2)

    def infer(self, call: Call) -> Spec:
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array, labels: Array, dout: Array) -> Array:
        score = numerics.wide(x).astype(np.longdouble)
        return np.asarray((1 / (1 + np.exp(-score)) - numerics.wide(labels)) * numerics.wide(dout))
