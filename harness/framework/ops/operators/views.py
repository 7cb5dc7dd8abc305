"""SelectExtView, ExpandDimsView and TransposeExtView: forms of ``select``, ``expand_dims`` and ``transpose`` that
MindSpore computes as views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.framework.ops.operators.softmax import check_axis
from harness.framework.tensor import Tensor
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec

#: what each of them says of itself
VIEW: dict[str, Any] = {"side_effect_mem": True}


@operator
class SelectExtView(Operator):
    """x, axis, index: the slice at ``index``, without the axis."""

    name = "SelectExtView"
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        shape = call.shape(0)
        (axis,), (index,) = ints(call, 1), ints(call, 2)
        axis = check_axis(call, axis)
        if not -shape[axis] <= index < shape[axis]:
            raise call.fail(f"index {index} is out of range for axis {axis}")
        return TensorSpec(call.dtype(0), (*shape[:axis], *shape[axis + 1 :]))

    def kernel(self, call: Call, x: Array, axis: int, index: int) -> Array:
        place: Any = (*(slice(None),) * (axis % x.ndim), index, ...)
        part: Array = x[place]
        return part

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, axis, index = b.inputs
        shape, at = list(x.shape), axis % len(x.shape)
        index = index % shape[at]
        dout = emit("ExpandDimsView", b.dout, axis, **VIEW)
        before, after = ([*shape[:at], n, *shape[at + 1 :]] for n in (index, shape[at] - index - 1))
        parts = [Tensor(np.zeros(s), x.dtype) for s in (before, after)]
        members = (*parts[: int(index > 0)], dout, *([parts[1]] if index or shape[at] > 1 else []))
        return emit("Concat", members, axis), None, None


@operator
class ExpandDimsView(Operator):
    """x, axis: with a new axis of length 1."""

    name = "ExpandDimsView"
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        shape = call.shape(0)
        axis = check_axis(call, ints(call, 1)[0], len(shape) + 1)
        return TensorSpec(call.dtype(0), (*shape[:axis], 1, *shape[axis:]))

    def kernel(self, call: Call, x: Array, axis: int) -> Array:
        return np.expand_dims(x, axis)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return emit("Reshape", b.dout, tuple(b.inputs[0].shape)), None


@operator
class TransposeExtView(Operator):
    """x and two axes, which change places."""

    name = "TransposeExtView"
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        shape = list(call.shape(0))
        first, second = (check_axis(call, ints(call, at)[0]) for at in (1, 2))
        shape[first], shape[second] = shape[second], shape[first]
        return TensorSpec(call.dtype(0), tuple(shape))

    def kernel(self, call: Call, x: Array, first: int, second: int) -> Array:
        return np.swapaxes(x, first, second)

    def gradient(self, b: Backward) -> Sequence[Any]:
        return emit("TransposeExtView", b.dout, *b.inputs[1:], **VIEW), None, None
