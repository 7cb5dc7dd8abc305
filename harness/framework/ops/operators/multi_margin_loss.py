"""MultiMarginLoss: distances of the other classes' scores from the target's; and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


def _apart(call: Call, x: Array, target: Array) -> tuple[Array, Array]:
    """max(0, margin - x[target] + x) (n, c), 0 at the target; and one-hot targets."""
    chosen = np.arange(x.shape[1]) == target[:, None]
    wide = numerics.wide(x)
    own = np.take_along_axis(wide, target[:, None].astype(np.int64), 1)
    return np.where(chosen, 0, np.maximum(0, float(call.attrs["margin"]) - own + wide)), chosen


def _weights(weight: Array | None, target: Array) -> Any:
    return 1.0 if weight is None else numerics.wide(weight)[target]


@operator
class MultiMarginLoss(Operator):
    """x (n, c), target (n,), weight (c,) or None; attributes p, margin and reduction."""

    name = "MultiMarginLoss"
    functional = False
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        x, target = call.tensor(0), call.shape(1)
        weight = call.shape(2) if isinstance(call.inputs[2], TensorSpec) else x.shape[1:]
        if len(x.shape) != 2 or target != x.shape[:1] or weight != x.shape[1:]:
            raise call.fail("scores (n, c), a target for each row and a weight for each class are needed")
        return TensorSpec(x.dtype, target if call.attrs["reduction"] == "none" else ())

    def kernel(self, call: Call, x: Array, target: Array, weight: Array | None) -> Array:
        apart, _ = _apart(call, x, target)
        rows = numerics.total(apart ** call.attrs["p"], 1) * _weights(weight, target) / x.shape[1]
        if call.attrs["reduction"] == "none":
            return np.asarray(rows)
        total = numerics.total(rows, 0)
        return np.asarray(total / len(target) if call.attrs["reduction"] == "mean" else total)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, target, weight = b.inputs
        names = {"input_names": ("y_grad", "x", "target", "weight"), "output_names": ("x_grad",)}
        attrs = {name: names.get(name, value) for name, value in b.attrs.items()}
        return emit("MultiMarginLossGrad", b.dout, x, target, weight, **attrs), None, None


@operator
class MultiMarginLossGrad(Operator):
    """dout, x, target, weight."""

    name = "MultiMarginLossGrad"
    functional = False
    tensors = (0, 1, 2)

    def infer(self, call: Call) -> Spec:
        return call.tensor(1).tensor

    def kernel(self, call: Call, dout: Array, x: Array, target: Array, weight: Array | None) -> Array:
        apart, chosen = _apart(call, x, target)
        slope = (2 * apart if call.attrs["p"] == 2 else (apart > 0) * 1.0) / x.shape[1]
        slope = np.where(chosen, -numerics.total(slope, 1, keepdims=True), slope)
        share = numerics.wide(dout) / (len(target) if call.attrs["reduction"] == "mean" else 1)
        return np.asarray(slope * np.broadcast_to(_weights(weight, target) * share, target.shape)[:, None])
