"""SmoothL1Loss and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.errors import OperandError
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.framework.ops.operators.nll_loss import MEAN, NONE
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


@operator
class SmoothL1Loss(Operator):
    """Two tensors of one shape, beta, reduction: squares of differences below beta, else absolute values."""

    name = "SmoothL1Loss"
    tensors = (0, 1)
    same_dtype = (0, 1)

    def infer(self, call: Call) -> Spec:
        x = call.tensor(0)
        if call.shape(1) != x.shape:
            raise call.fail("both tensors must have one shape")
        if call.values[2] is not None and float(np.asarray(call.values[2])) <= 0:
            raise OperandError(f"SmoothL1Loss: beta must be above 0, got {call.values[2]}")
        return x.tensor if ints(call, 3)[0] == NONE else TensorSpec(x.dtype, ())

    def kernel(self, call: Call, x: Array, y: Array, beta: float, how: int) -> Array:
        far = np.abs(numerics.wide(x) - numerics.wide(y))
        loss: Array = np.where(far < beta, 0.5 * far * far / beta, far - 0.5 * beta)
        if how == NONE:
            return loss
        return numerics.mean(loss) if how == MEAN else numerics.total(loss)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, y, beta, how = b.inputs
        dx = emit("SmoothL1LossGrad", x, y, b.dout, beta, how) if b.needs[0] else None
        return dx, emit("SmoothL1LossGrad", y, x, b.dout, beta, how) if b.needs[1] else None, None, None


@operator
class SmoothL1LossGrad(Operator):
    """x, y, dout, beta, reduction: the gradient for x."""

    name = "SmoothL1LossGrad"
    tensors = (0, 1, 2)

    def infer(self, call: Call) -> Spec:
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array, y: Array, dout: Array, beta: float, how: int) -> Array:
        far = numerics.wide(x) - numerics.wide(y)
        slope = np.clip(far / beta, -1, 1) * numerics.wide(dout)
        return np.asarray(slope / max(1, x.size) if how == MEAN else slope)
