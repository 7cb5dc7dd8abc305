"""Cross and Ger: products of vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.framework.ops.elementwise import as_result, broadcast_shapes, check_kind
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec

#: the axis that stands for "the first of length 3"
ANY_AXIS = -65530


@operator
class Cross(Operator):
    """Two tensors and the axis (a 0-d tensor) of their vectors of length 3."""

    name = "Cross"
    tensors = (0, 1, 2)
    same_dtype = (0, 1)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "iufc", 0, 1)
        shape = broadcast_shapes(call, call.shape(0), call.shape(1))
        out = TensorSpec(call.dtype(0), shape)
        axis = self.axis(shape, ints(call, 2)[0])
        if axis is None or shape[axis] != 3:
            raise call.fail("the vectors must have length 3")
        return out

    @staticmethod
    def axis(shape: tuple[int, ...], given: int) -> int | None:
        """The axis of the vectors, None if there is none."""
        if given == ANY_AXIS:
            return shape.index(3) if 3 in shape else None
        return given if -len(shape) <= given < len(shape) else None

    def kernel(self, call: Call, x: Array, y: Array, axis: Any) -> Array:
        shape = call.outputs()[0].shape
        at = self.axis(shape, int(np.asarray(axis).reshape(())))
        first, second = (np.moveaxis(np.broadcast_to(v, shape), at or 0, 0) for v in as_result(call, x, y))
        parts = [first[i] * second[j] - first[j] * second[i] for i, j in ((1, 2), (2, 0), (0, 1))]
        return np.moveaxis(np.stack(parts), 0, at or 0)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, y, axis = b.inputs
        return emit("Cross", y, b.dout, axis), emit("Cross", b.dout, x, axis), None


@operator
class Ger(Operator):
    """The products of each element of one vector with each of another."""

    name = "Ger"
    functional = False
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "f", 0, 1)
        if len(call.shape(0)) != 1 or len(call.shape(1)) != 1 or call.dtype(0) is not call.dtype(1):
            raise call.fail("two vectors of one dtype are needed")
        return TensorSpec(call.dtype(0), (*call.shape(0), *call.shape(1)))

    def kernel(self, call: Call, x: Array, y: Array) -> Array:
        first, second = as_result(call, x, y)
        return np.asarray(first[:, None] * second)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, y = b.inputs
        dx = emit("Squeeze", emit("MatMul", b.dout, emit("ExpandDims", y, 1), False, False), (1,))
        turned = emit("Transpose", b.dout, (1, 0))
        return dx, emit("Squeeze", emit("MatMul", turned, emit("ExpandDims", x, 1), False, False), (1,))
