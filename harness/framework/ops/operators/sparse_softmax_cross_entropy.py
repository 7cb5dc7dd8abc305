"""Cross entropy of integer labels against unnormalised scores, mean over the batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.errors import KernelError, UnsupportedError
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.operators.softmax import shifted_powers
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


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
        classes = logits.shape[1]
        if labels.size and not 0 <= int(labels.min()) <= int(labels.max()) < classes:
            raise KernelError(f"{self.name}: a label lies outside 0..{classes - 1}")
        rows = np.arange(logits.shape[0])
        shifted, power, total = shifted_powers(logits, 1)
        if not call.attrs.get("is_grad"):
            # As the CPU kernel does, the logarithm is taken of the probability in the scores' dtype, which may be 0.
            gone = (power[rows, labels] / total[:, 0]).astype(logits.dtype) == 0
            losses = np.where(gone, -np.inf, shifted[rows, labels] - np.log(total[:, 0]))
            return np.asarray(-numerics.total(losses) / max(1, len(rows)))
        grad = np.array(power / total)
        grad[rows, labels] -= 1
        return grad / max(1, len(rows))

    def gradient(self, b: Backward) -> Sequence[Any]:
        if b.attrs.get("is_grad"):
            raise UnsupportedError(f"{self.name} with is_grad has no gradient")
        grad = emit(self.name, b.inputs[0], b.inputs[1], is_grad=True)
        return emit("Mul", emit("Depend", grad, b.out), b.dout), None
