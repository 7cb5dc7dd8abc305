"""LogSoftmax and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.errors import KernelError
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.framework.ops.operators.softmax import check_axis, shifted_powers
from harness.framework.tensor import call as emit
from harness.graph import Spec


@operator
class LogSoftmax(Operator):
    """The logarithm of Softmax along axis argument 1."""

    name = "LogSoftmax"
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        if call.dtype(0).kind != "f":
            raise call.fail("a floating tensor is needed")
        if not call.shape(0):  # the kernel's own error, not one of shapes (measured)
            raise KernelError("LogSoftmax: a tensor with an axis is needed, got one without")
        check_axis(call, ints(call, 1)[0])
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array, axis: int) -> Array:
        if not x.size:
            return x
        shifted, _, total = shifted_powers(x, axis)
        return np.asarray(shifted - np.log(total))

    def gradient(self, b: Backward) -> Sequence[Any]:
        return emit("LogSoftmaxGrad", b.out, b.dout, b.inputs[1]), None


@operator
class LogSoftmaxGrad(Operator):
    """dout - e ** out * sum(dout)."""

    name = "LogSoftmaxGrad"
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        return call.tensor(0).tensor

    def kernel(self, call: Call, out: Array, dout: Array, axis: int) -> Array:
        total = numerics.total(numerics.wide(dout), axis, keepdims=True)
        power = np.where(np.isnan(out), np.inf, numerics.widest(np.exp, out))  # the power of NaN, as in Softmax
        return np.asarray(numerics.wide(dout) - power * total)

    def gradient(self, b: Backward) -> Sequence[Any]:
        out, dout, axis = b.inputs
        power = emit("Exp", out)
        inner = emit("SumExt", emit("Mul", power, b.dout), (axis,), True, None)
        slope = emit("SumExt", dout, (axis,), True, None)
        dout_part = emit("Sub", b.dout, inner)
        return emit("Neg", emit("Mul", emit("Mul", power, b.dout), slope)), dout_part, None
