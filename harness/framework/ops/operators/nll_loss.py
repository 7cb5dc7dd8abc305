"""NLLLoss: minus the weighted log probability of each label; and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.errors import KernelError
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec, TupleSpec

#: values of the reduction argument of losses
SUM, MEAN, NONE = 0, 1, 2


def picked(call: Call, classes: int, labels: Array, weight: Array, ignore: int) -> tuple[Array, Array]:
    """The labels with ignored ones replaced by 0, and the weight of each row (0 where ignored).

    Raises ``KernelError`` for a label that is not a class.
    """
    kept = labels != ignore
    safe = np.where(kept, labels, 0)
    if safe.size and not 0 <= int(safe.min()) <= int(safe.max()) < classes:
        raise KernelError(f"{call.op}: a label lies outside 0..{classes - 1}")
    return safe, np.where(kept, numerics.wide(weight)[safe], 0.0)


@operator
class NLLLoss(Operator):
    """logits (n, c), labels (n,), weight (c,), reduction, ignored label: the loss and the total weight."""

    name = "NLLLoss"
    tensors = (0, 1, 2)

    def infer(self, call: Call) -> Spec:
        logits, (how,) = call.tensor(0), ints(call, 3)
        if len(logits.shape) not in (1, 2):
            raise KernelError(f"NLLLoss: log probabilities must be (n, c), got {list(logits.shape)}")
        if len(logits.shape) != 2 or call.shape(1) != logits.shape[:1] or call.shape(2) != logits.shape[1:]:
            raise call.fail("log probabilities must be (n, c), labels (n,) and weights (c,)")
        return TupleSpec(
            (TensorSpec(logits.dtype, logits.shape[:1] if how == NONE else ()), TensorSpec(call.dtype(2), ()))
        )

    def kernel(self, call: Call, x: Array, labels: Array, weight: Array, how: int, ignore: int) -> tuple[Array, Array]:
        safe, weights = picked(call, x.shape[1], labels, weight, ignore)
        losses = np.where(weights == 0, 0.0, -numerics.wide(x)[np.arange(len(x)), safe] * weights)
        total = numerics.total(weights)
        if how == NONE:
            return losses, total
        loss = numerics.total(losses)
        return (loss / total if how == MEAN else loss), total

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, labels, weight, how, ignore = b.inputs
        return emit("NLLLossGrad", x, b.dout[0], labels, weight, b.out[1], how, ignore), None, None, None, None


@operator
class NLLLossGrad(Operator):
    """logits, dloss, labels, weight, total weight, reduction, ignored label."""

    name = "NLLLossGrad"
    tensors = (0, 1, 2, 3, 4)

    def infer(self, call: Call) -> Spec:
        return call.tensor(0).tensor

    def kernel(
        self, call: Call, x: Array, dloss: Array, labels: Array, weight: Array, total: Array, how: int, ignore: int
    ) -> Array:
        safe, weights = picked(call, x.shape[1], labels, weight, ignore)
        scale = -weights * numerics.wide(dloss)
        out = np.zeros(x.shape)
        out[np.arange(len(x)), safe] = scale / numerics.wide(total) if how == MEAN else scale
        return out
