"""Maximum and Minimum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.broadcast import reduce_to
from harness.framework.ops.elementwise import Binary, as_result
from harness.framework.ops.expansion import scalar
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec, TupleSpec


class _Extreme(Binary):
    """The first operand if the comparison holds, else the second; beside NaN, always the second (measured).

    Where both are equal, the gradient is halved between them.
    """

    accepts = "biuf"
    beats: ClassVar[np.ufunc]
    loses: ClassVar[str]
    wins: ClassVar[str]

    def kernel(self, call: Call, x: Array, y: Array) -> Array:
        x, y = as_result(call, x, y)
        return np.where(self.beats(x, y), x, y)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, y = b.inputs
        names: dict[str, Any] = {"output_names": ("y",), "input_names": ("shape", "value")}
        zeros = emit("FillV2", tuple(b.dout.shape), scalar(0, b.dout.dtype), **names)
        tie = emit("Equal", x, y)
        share = emit("Select", tie, emit("Divs", b.dout, 2), b.dout)
        dx = reduce_to(emit("Select", emit(self.loses, x, y), zeros, share), x) if b.needs[0] else None
        dy = reduce_to(emit("Select", emit(self.wins, x, y), zeros, share), y) if b.needs[1] else None
        return dx, dy


@operator
class Maximum(_Extreme):
    """The larger."""

    name = "Maximum"
    beats = np.greater
    loses = "Less"
    wins = "Greater"


@operator
class Minimum(_Extreme):
    """The smaller."""

    name = "Minimum"
    beats = np.less
    loses = "Greater"
    wins = "Less"


@operator
class MaximumGrad(Operator):
    """x, y, dout, whether each gradient is wanted: dout where x is the larger (or equal), and where y is."""

    name = "MaximumGrad"
    tensors = (0, 1, 2, 3, 4)

    def infer(self, call: Call) -> Spec:
        return TupleSpec((TensorSpec(call.dtype(0), call.shape(0)), TensorSpec(call.dtype(1), call.shape(1))))

    def kernel(self, call: Call, x: Array, y: Array, dout: Array, _x: Any, _y: Any) -> tuple[Array, Array]:
        larger = np.greater_equal(x, y)
        values = numerics.wide(dout)
        zero = np.zeros_like(values)
        return _summed(np.where(larger, values, zero), x.shape), _summed(np.where(larger, zero, values), y.shape)


def _summed(x: Array, shape: tuple[int, ...]) -> Array:
    padded = (1,) * (x.ndim - len(shape)) + shape
    axes = tuple(i for i, (n, m) in enumerate(zip(x.shape, padded, strict=True)) if n != m)
    return (numerics.total(x, axes, keepdims=True) if axes else x).reshape(shape)
