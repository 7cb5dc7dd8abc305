"""BCEWithLogitsLoss: cross entropy of two classes against a score; and the operators of its backward."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, ClassVar

import numpy as np

from harness import dtypes
from harness.errors import DtypeError
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.broadcast import reduce_to
from harness.framework.ops.constants import ints
from harness.framework.ops.expansion import Composite, scalar
from harness.framework.ops.operators.nll_loss import MEAN, NONE
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec

_WEIGHTS = (dtypes.bfloat16, dtypes.float16, dtypes.float32)


def _check_weight(call: Call, at: int, name: str, shape: tuple[int, ...]) -> None:
    """Raises unless an argument is absent, or broadcasts to the scores and has a dtype of weights (measured)."""
    given = call.inputs[at]
    if not isinstance(given, TensorSpec):
        return
    pairs = zip(reversed(given.shape), reversed(shape), strict=False)
    if len(given.shape) > len(shape) or any(n not in (1, m) for n, m in pairs):
        raise call.fail(f"{name} of shape {given.shape} does not broadcast to {shape}")
    if given.dtype not in _WEIGHTS:
        raise DtypeError(f"{call.op}: {name} must be BFloat16, Float16 or Float32, got {given.dtype}")


@operator
class BCEWithLogitsLoss(Operator):
    """scores, labels of one shape, weight and positive weight (tensors that broadcast, or None), reduction."""

    name = "BCEWithLogitsLoss"
    tensors = (0, 1)
    absent: ClassVar[dict[int, str]] = {2: "Float32", 3: "Float32"}
    same_dtype = (0, 1)

    def infer(self, call: Call) -> Spec:
        x, (how,) = call.tensor(0), ints(call, 4)
        if call.shape(1) != x.shape:
            raise call.fail("scores and labels must have one shape")
        for at, name in ((2, "weight"), (3, "pos_weight")):
            _check_weight(call, at, name, x.shape)
        return x.tensor if how == NONE else TensorSpec(x.dtype, ())

    def kernel(self, call: Call, x: Array, labels: Array, weight: Any, positive: Any, how: int) -> Array:
        score, label = numerics.wide(x).astype(np.longdouble), numerics.wide(labels)
        tail = np.log1p(np.exp(-np.abs(score))) + np.maximum(-score, 0)
        if positive is not None:
            tail = tail * ((numerics.wide(positive) - 1) * label + 1)
        loss = (1 - label) * score + tail
        if weight is not None:
            loss = loss * numerics.wide(weight)
        if how == NONE:
            return np.asarray(loss)
        return numerics.mean(loss) if how == MEAN else numerics.total(loss)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, labels, weight, positive, how = b.inputs
        dx = dlabel = None
        if b.needs[0]:
            dx = emit("BinaryCrossEntropyWithLogitsBackward", b.dout, x, labels, weight, positive, how)
        if b.needs[1]:
            dlabel = _label_gradient(b)
        return dx, dlabel, None, None, None


def _label_gradient(b: Backward) -> Any:
    x, labels, weight, positive, how = b.inputs
    if positive is None:
        slope = emit("Neg", x)
    else:
        inner = emit("Neg", emit("SoftplusExt", x, 1.0, 20.0))
        outer = emit("Neg", emit("SoftplusExt", emit("Neg", x), 1.0, 20.0))
        slope = emit("Sub", inner, emit("Mul", outer, positive))
    slope = emit("Mul", slope, b.dout)
    if weight is not None:
        slope = emit("Mul", slope, weight)
    return emit("Divs", slope, prod(labels.shape)) if how == MEAN else slope


@operator
class BinaryCrossEntropyWithLogitsBackward(Composite):
    """dout, scores, labels, weight, positive weight, reduction."""

    name = "BinaryCrossEntropyWithLogitsBackward"
    tensors = (0, 1, 2)

    def expand(self, dout: Any, x: Any, labels: Any, weight: Any, positive: Any, how: Any) -> Any:
        positive = emit("OnesLike", labels) if positive is None else positive
        part = emit("Mul", labels, positive)
        factor = emit("Sub", emit("Add", part, scalar(1, part.dtype)), labels)
        slope = emit("Mul", emit("Sub", emit("Mul", factor, emit("Sigmoid", x)), part), dout)
        slope = emit("Mul", slope, emit("OnesLike", labels) if weight is None else weight)
        if how == MEAN:
            slope = emit("RealDiv", slope, scalar(prod(x.shape), slope.dtype))
        return reduce_to(slope, x)
