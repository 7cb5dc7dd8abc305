"""Sort along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness import dtypes
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.elementwise import check_kind, is_wide
from harness.framework.tensor import Tensor
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec, TupleSpec


@operator
class Sort(Operator):
    """Values in order, and where they were (Int32); attributes ``axis`` and ``descending``.

    Equal ones keep their order.
    """

    name = "Sort"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "iuf", 0)
        x, axis = call.tensor(0).tensor, call.attrs["axis"]
        if not x.shape or not -len(x.shape) <= axis < len(x.shape):
            raise call.fail(f"axis {axis} is out of range")
        return TupleSpec((x, TensorSpec(dtypes.int32, x.shape)))

    def kernel(self, call: Call, x: Array) -> tuple[Array, Array]:
        axis = call.attrs["axis"]
        keys = numerics.wide(x) if is_wide(x) else x
        if call.attrs["descending"]:
            back = np.flip(np.argsort(np.flip(keys, axis), axis=axis, kind="stable"), axis)
            order = x.shape[axis] - 1 - back
        else:
            order = np.argsort(keys, axis=axis, kind="stable")
        return np.take_along_axis(x, order, axis), order.astype(np.int32)

    def gradient(self, b: Backward) -> Sequence[Any]:
        """The gradient put back where the values were; as MindSpore finds it, through ``TopK`` of all."""
        x, descending, axis = b.inputs[0], b.attrs["descending"], b.attrs["axis"]
        order = list(range(len(x.shape)))
        order[axis], order[-1] = order[-1], order[axis]
        turned = order != sorted(order)
        shape = tuple(x.shape[a] for a in order)
        count, length = int(np.prod(shape)), shape[-1]
        keys, dout = (x, b.dout[0]) if descending else (emit("Neg", x), emit("Neg", b.dout[0]))
        if turned:
            keys, dout = emit("Transpose", keys, tuple(order)), emit("Transpose", dout, tuple(order))
        names: dict[str, Any] = {"output_names": ("values", "indices"), "sorted": True, "input_names": ("input", "k")}
        index = emit("TopK", keys, Tensor(np.asarray(length, np.int64)), **names)[1]
        rows = emit("ExpandDims", Tensor(np.arange(0, count, length, dtype=np.int32)), -1)
        flat = emit("Reshape", emit("Add", emit("Reshape", index, (-1, length)), rows), (-1,))
        back = emit("ScatterNd", emit("ExpandDims", flat, -1), emit("Reshape", dout, (-1,)), (count,))
        back = emit("Reshape", back, shape)
        if turned:
            back = emit("Transpose", back, tuple(order))
        return (back if descending else emit("Neg", back),)
