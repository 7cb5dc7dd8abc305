"""BinaryCrossEntropy: cross entropy of two classes against a probability; and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, ClassVar

import numpy as np

from harness.errors import KernelError
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.framework.ops.expansion import scalar
from harness.framework.ops.operators.log import LOG
from harness.framework.ops.operators.nll_loss import MEAN, NONE
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


def _fits(shape: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    """Whether weights of a shape are broadcast to another one."""
    return -1 in (*shape, *whole) or all(n in (1, m) for n, m in zip(shape[::-1], whole[::-1], strict=False))


def _epsilon(x: Array) -> float:
    """What the kernels add to a logarithm's argument, and the least denominator of the gradient: 0 in float16."""
    return 0.0 if x.dtype == np.float16 else 1e-12


@operator
class BinaryCrossEntropy(Operator):
    """probabilities, labels, weight or None, reduction."""

    name = "BinaryCrossEntropy"
    tensors = (0, 1)
    absent: ClassVar[dict[int, str]] = {2: "Float32"}

    def infer(self, call: Call) -> Spec:
        x, (how,) = call.tensor(0), ints(call, 3)
        if call.shape(1) != x.shape:
            raise call.fail("probabilities and labels must have one shape")
        if isinstance(call.inputs[2], TensorSpec) and not _fits(call.shape(2), x.shape):
            raise call.fail(f"the weights {list(call.shape(2))} do not fit {list(x.shape)}")
        return x.tensor if how == NONE else TensorSpec(x.dtype, ())

    def kernel(self, call: Call, x: Array, labels: Array, weight: Any, _how: Any) -> Array:
        (how,), p, label = ints(call, 3), numerics.wide(x).astype(np.longdouble), numerics.wide(labels)
        if np.any((p < 0) | (p > 1)):
            raise KernelError(f"{self.name}: a probability lies outside 0..1")
        loss = -(label * np.log(p + _epsilon(x)) + (1 - label) * np.log(1 - p + _epsilon(x)))
        if weight is not None:
            loss = loss * numerics.wide(weight)
        if how == NONE:
            return np.asarray(loss)
        return numerics.mean(loss) if how == MEAN else numerics.total(loss)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, labels, weight, how = b.inputs
        dx = emit("BinaryCrossEntropyGrad", x, labels, b.dout, weight, how) if b.needs[0] else None
        return dx, _label_gradient(b) if b.needs[1] else None, None, None


def _label_gradient(b: Backward) -> Any:
    x, labels, weight, how = b.inputs
    slope = emit("Sub", emit("Log", emit("Sub", scalar(1, x.dtype), x), **LOG), emit("Log", x, **LOG))
    slope = emit("Mul", slope, b.dout)
    if weight is not None:
        slope = emit("Mul", slope, weight)
    value = getattr(getattr(how, "operand", None), "value", how)
    if int(np.asarray(value if isinstance(value, (int, np.ndarray)) else how.asnumpy())) == MEAN:
        return emit("RealDiv", slope, scalar(prod(labels.shape), slope.dtype))
    return slope


@operator
class BinaryCrossEntropyGrad(Operator):
    """probabilities, labels, dout, weight or None, reduction."""

    name = "BinaryCrossEntropyGrad"
    tensors = (0, 1, 2)
    absent: ClassVar[dict[int, str]] = {3: "Float32"}

    def infer(self, call: Call) -> Spec:
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array, labels: Array, dout: Array, weight: Any, _how: Any) -> Array:
        p, scale = numerics.wide(x), numerics.wide(dout)
        if weight is not None:
            scale = scale * numerics.wide(weight)
        if ints(call, 4)[0] == MEAN:
            scale = scale / max(1, x.size)
        return np.asarray((p - numerics.wide(labels)) / np.maximum((1 - p) * p, _epsilon(x)) * scale)
