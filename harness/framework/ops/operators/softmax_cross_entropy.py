"""Cross entropy of label distributions against unnormalised scores, one value a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.operators.softmax import shifted_powers
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec, TupleSpec


@operator
class SoftmaxCrossEntropyWithLogits(Operator):
    """scores and labels (batch, classes): the losses (batch,), and softmax - labels, which is their gradient."""

    name = "SoftmaxCrossEntropyWithLogits"
    functional = False
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        logits = call.tensor(0)
        if len(logits.shape) != 2 or call.shape(1) != logits.shape:
            raise call.fail("scores and labels must both be (batch, classes)")
        return TupleSpec((TensorSpec(logits.dtype, logits.shape[:1]), logits.tensor))

    def kernel(self, call: Call, logits: Array, labels: Array) -> tuple[Array, Array]:
        if not logits.size:
            return np.zeros(len(logits)), logits
        shifted, power, total = shifted_powers(logits, 1)
        wanted = numerics.wide(labels)
        loss = -numerics.total(wanted * (shifted - np.log(total)), 1)
        return loss, power / total - wanted

    def gradient(self, b: Backward) -> Sequence[Any]:
        return emit("Mul", b.out[1], emit("ExpandDims", b.dout[0], -1)), None
