"""L2Normalize: a tensor over its length along axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.tensor import call as emit
from harness.graph import Spec


def _length(call: Call, x: Array) -> Array:
    """The length along attribute ``axis``, at least the root of ``epsilon``; the axis is kept."""
    axis = call.attrs["axis"]
    axes = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    wide = numerics.wide(x)
    squares = numerics.held(numerics.total(wide * wide, axes, keepdims=True), x)
    return np.asarray(np.sqrt(np.maximum(squares, call.attrs["epsilon"])))


@operator
class L2Normalize(Operator):
    """x over the root of the sum of its squares along ``axis`` (no less than ``epsilon``)."""

    name = "L2Normalize"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array) -> Array:
        return numerics.wide(x) / _length(call, x)

    def gradient(self, b: Backward) -> Sequence[Any]:
        names = ("logits", "loss_grad", "labels", "weight", "total_weight")
        attrs = {"axis": b.attrs["axis"], "epsilon": b.attrs["epsilon"]}
        kept = {"output_names": ("logits_grad",), "input_names": names} | attrs
        return (emit("L2NormalizeGrad", b.inputs[0], b.out, b.dout, **kept),)


@operator
class L2NormalizeGrad(Operator):
    """x, result, dout."""

    name = "L2NormalizeGrad"
    functional = False

    def infer(self, call: Call) -> Spec:
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array, out: Array, dout: Array) -> Array:
        axis = call.attrs["axis"]
        axes = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
        unit, slope = numerics.wide(out), numerics.wide(dout)
        inner = numerics.total(unit * slope, axes, keepdims=True)
        return np.asarray((slope - unit * inner) / _length(call, x))
