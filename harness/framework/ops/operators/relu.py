"""ReLU and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.tensor import call as emit
from harness.graph import Spec


@operator
class ReLU(Operator):
    """x where it is above 0, else 0 (NaN gives 0, measured)."""

    name = "ReLU"
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array) -> Array:
        return np.where(x > 0, x, x.dtype.type(0))

    def gradient(self, b: Backward) -> Sequence[Any]:
        return (emit("ReluGrad", b.dout, b.out),)


@operator
class ReluGrad(Operator):
    """dout where the forward result is above 0, else 0."""

    name = "ReluGrad"

    def infer(self, call: Call) -> Spec:
        return call.tensor(0).tensor

    def kernel(self, call: Call, dout: Array, out: Array) -> Array:
        return np.where(out > 0, dout, dout.dtype.type(0))

    def gradient(self, b: Backward) -> Sequence[Any]:
        return emit("ReluGrad", b.dout, b.inputs[1]), None
