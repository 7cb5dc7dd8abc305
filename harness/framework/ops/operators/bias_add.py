"""BiasAdd and its gradient: one value added to each channel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


@operator
class BiasAdd(Operator):
    """x + bias along axis 1; argument 2 is the data format (0 = NCHW)."""

    name = "BiasAdd"

    def infer(self, call: Call) -> Spec:
        x, bias = call.shape(0), call.shape(1)
        if len(x) < 2 or len(bias) != 1 or (x[1] != bias[0] and -1 not in (x[1], bias[0])):
            raise call.fail("the bias must be 1-D and as long as axis 1")
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array, bias: Array, _format: int) -> Array:
        return numerics.wide(x) + numerics.wide(bias).reshape(-1, *([1] * (x.ndim - 2)))

    def gradient(self, b: Backward) -> Sequence[Any]:
        return b.dout, emit("BiasAddGrad", b.dout, b.inputs[2]), None


@operator
class BiasAddGrad(Operator):
    """Sum over every axis but 1."""

    name = "BiasAddGrad"

    def infer(self, call: Call) -> Spec:
        return TensorSpec(call.dtype(0), (call.shape(0)[1],))

    def kernel(self, call: Call, dout: Array, _format: int) -> Array:
        return numerics.total(numerics.wide(dout), tuple(i for i in range(dout.ndim) if i != 1))
