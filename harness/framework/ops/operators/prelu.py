"""PReLU and its gradient: a slope for each channel below 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.elementwise import check_kind
from harness.framework.tensor import call as emit
from harness.graph import Spec, TupleSpec


def _checked(call: Call, x: int, weight: int) -> None:
    check_kind(call, "f", x, weight)
    shape, slopes = call.shape(x), call.shape(weight)
    channels = shape[1] if len(shape) > 1 else 1
    if len(slopes) != 1 or slopes[0] not in (1, channels):
        raise call.fail(f"the weight must have 1 element, or {channels}, one for each channel")


def _beside(weight: Array, x: Array) -> Array:
    return weight.reshape(1, -1, *([1] * (x.ndim - 2))) if x.ndim > 1 else weight


@operator
class PReLU(Operator):
    """x above 0, else weight * x; the weight has one element, or one for each entry of axis 1."""

    name = "PReLU"
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        _checked(call, 0, 1)
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array, weight: Array) -> Any:
        x, weight = numerics.wide(x), numerics.wide(weight)
        return np.where(x > 0, x, _beside(weight, x) * x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return tuple(emit("PReLUGrad", b.dout, *b.inputs))


@operator
class PReLUGrad(Operator):
    """Arguments: dout, x, weight. Gives the gradients of x and of the weight."""

    name = "PReLUGrad"

    def infer(self, call: Call) -> Spec:
        _checked(call, 1, 2)
        return TupleSpec((call.tensor(1).tensor, call.tensor(2).tensor))

    def kernel(self, call: Call, dout: Array, x: Array, weight: Array) -> tuple[Array, Array]:
        dout, x, weight = (numerics.wide(a) for a in (dout, x, weight))
        dx = np.where(x > 0, dout, _beside(weight, x) * dout)
        share = np.where(x > 0, 0.0, x * dout)
        axes = tuple(a for a in range(x.ndim) if a != 1 or weight.size == 1)
        return dx, numerics.total(share, axes).reshape(weight.shape)
