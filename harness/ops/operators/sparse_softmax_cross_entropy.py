"""Cross entropy of integer labels against unnormalised scores, mean over the batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.graph import Spec, TensorSpec
from harness.ops import numerics
from harness.ops.base import Array, Backward, Call, Operator, operator
from harness.tensor import call as emit


@operator
class SparseSoftmaxCrossEntropyWithLogits(Operator):
    """Mean of -log softmax(logits)[label]; with attribute ``is_grad`` its gradient (softmax - one-hot) / batch.

    Scores are (batch, classes) of a floating dtype, labels (batch,) of int32 or int64.
    """

    name = "SparseSoftmaxCrossEntropyWithLogits"
    functional = False

    def infer(self, call: Call) -> Spec:
        logits, labels = call.tensor(0), call.tensor(1)
        if len(logits.shape) != 2 or len(labels.shape) != 1:
            raise call.fail("scores must be (batch, classes) and labels (batch,)")
        if labels.shape[0] != logits.shape[0] and -1 not in (labels.shape[0], logits.shape[0]):
            raise call.fail(f"{labels.shape[0]} labels for {logits.shape[0]} rows")
        if labels.dtype.kind != "i":
            raise call.fail("labels must be int32 or int64")
        return logits.tensor if call.attrs.get("is_grad") else TensorSpec(logits.dtype, ())

    def kernel(self, call: Call, logits: Array, labels: Array) -> Array:
        x = numerics.wide(logits).astype(np.longdouble)
        classes = x.shape[1]
        if labels.size and not 0 <= int(labels.min()) <= int(labels.max()) < classes:
            raise call.fail(f"a label lies outside 0..{classes - 1}")
        rows = np.arange(x.shape[0])
        shifted = x - x.max(axis=1, keepdims=True)
        power = np.exp(shifted)
        total = numerics.total(power, 1, keepdims=True)
        if not call.attrs.get("is_grad"):
            losses = np.log(total[:, 0]) - shifted[rows, labels]
            return numerics.total(losses) / max(1, len(rows))
        grad: Array = power / total
        grad[rows, labels] -= 1
        return grad / max(1, len(rows))

    def gradient(self, b: Backward) -> Sequence[Any]:
        grad = emit(self.name, b.inputs[0], b.inputs[1], is_grad=True)
        return emit("Mul", emit("Depend", grad, b.out), b.dout), None
