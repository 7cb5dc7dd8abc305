"""KLDivLoss: target * (log target - input), summed; and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.elementwise import check_kind
from harness.framework.ops.expansion import scalar
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


@operator
class KLDivLoss(Operator):
    """Log probabilities and probabilities of one shape; attribute ``reduction``: none, mean, batchmean or sum."""

    name = "KLDivLoss"
    functional = False
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "f", 0, 1)
        if call.shape(0) != call.shape(1):
            raise call.fail("both tensors must have one shape")
        if call.attrs["reduction"] not in ("none", "mean", "batchmean", "sum"):
            raise call.fail(f"reduction must be none, mean, batchmean or sum, got {call.attrs['reduction']!r}")
        return call.tensor(0).tensor if call.attrs["reduction"] == "none" else TensorSpec(call.dtype(0), ())

    def kernel(self, call: Call, x: Array, target: Array) -> Array:
        goal, how = numerics.wide(target), call.attrs["reduction"]
        known = goal > 0
        loss = np.where(known, goal * (np.log(np.where(known, goal, 1)) - numerics.wide(x)), 0)
        if how == "none":
            return np.asarray(loss)
        total = numerics.total(loss)
        return total / {"mean": x.size, "batchmean": x.shape[0] if x.ndim else 1, "sum": 1}[how]

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, target = b.inputs
        how = b.attrs["reduction"]
        attrs: dict[str, Any] = {"output_names": ("y",), "input_names": ("x", "target", "grad"),
                 "reduction": "sum" if how == "mean" else how}  # fmt: skip
        dx = emit("KLDivLossGrad", b.dout, x, target, **attrs)
        return emit("RealDiv", dx, scalar(float(x.size), x.dtype)) if how == "mean" else dx, None


@operator
class KLDivLossGrad(Operator):
    """dout, log probabilities, probabilities."""

    name = "KLDivLossGrad"
    functional = False
    tensors = (0, 1, 2)

    def infer(self, call: Call) -> Spec:
        return call.tensor(1).tensor

    def kernel(self, call: Call, dout: Array, x: Array, target: Array) -> Array:
        share = -numerics.wide(target) * numerics.wide(dout)
        return share / {"batchmean": x.shape[0] if x.ndim else 1, "mean": x.size}.get(call.attrs["reduction"], 1)
