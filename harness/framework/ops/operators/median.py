"""Median along an axis: the lower of two in the middle, and its place; NaN, where there is one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import KernelError
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.elementwise import check_kind
from harness.framework.ops.reduce import reduced
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec, TupleSpec


def _found(x: Array, axis: int, ignore: bool) -> tuple[Array, Array]:
    """The median along an axis, which stays, and its place."""
    order = np.argsort(x, axis=axis, kind="stable")
    missing = np.isnan(x) if x.dtype.kind not in "iu" else np.zeros(x.shape, bool)
    if ignore:  # they stand last
        left = x.shape[axis] - missing.sum(axis, keepdims=True)
        at = np.take_along_axis(order, np.maximum(left - 1, 0) // 2, axis)
    else:
        at = np.take(order, [(x.shape[axis] - 1) // 2], axis)
        at = np.where(missing.any(axis, keepdims=True), missing.argmax(axis, keepdims=True), at)
    value = np.take_along_axis(x, at, axis)
    return value, at


@operator
class Median(Operator):
    """Attributes ``axis``, ``keep_dims`` and ``ignore_nan`` (what is not NaN counts alone); with ``global_median`` of
    all elements: then the place is 0 (measured)."""

    name = "Median"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "iuf", 0)
        shape, axis = call.shape(0), call.attrs["axis"]
        if call.attrs["global_median"]:
            return TupleSpec((TensorSpec(call.dtype(0), ()), TensorSpec(dtypes.int64, ())))
        if not -max(1, len(shape)) <= axis < max(1, len(shape)):
            raise call.fail(f"axis {axis} is out of range for {len(shape)} dimensions")
        out = reduced(shape, (axis % len(shape),) if shape else (), bool(call.attrs["keep_dims"]))
        return TupleSpec((TensorSpec(call.dtype(0), out), TensorSpec(dtypes.int64, out)))

    def kernel(self, call: Call, x: Array) -> tuple[Array, Array]:
        if not x.ndim:
            return x, np.zeros((), np.int64)
        if call.attrs["global_median"]:
            return _found(x.reshape(-1), 0, bool(call.attrs["ignore_nan"]))[0].reshape(()), np.zeros((), np.int64)
        axis = call.attrs["axis"]
        value, at = _found(x, axis, bool(call.attrs.get("ignore_nan")))
        return (value, at) if call.attrs["keep_dims"] else (value.squeeze(axis), at.squeeze(axis))

    def gradient(self, b: Backward) -> Sequence[Any]:
        if b.attrs.get("ignore_nan"):
            raise KernelError("Median with ignore_nan: its gradient has no CPU kernel")
        if b.attrs["global_median"]:
            raise KernelError("Median of all elements: its gradient is not computed by MindSpore's CPU either")
        attrs: dict[str, Any] = {
            "keep_dims": b.attrs["keep_dims"], "input_names": ("y_grad", "x", "y", "indices"),
            "axis": b.attrs["axis"], "output_names": ("x_grad",), "global_median": False,
        }  # fmt: skip
        return (emit("MedianGrad", b.dout[0], b.inputs[0], b.out[0], b.out[1], **attrs),)


@operator
class MedianGrad(Operator):
    """dout, x, the medians, their places: zeros like x with dout at those places."""

    name = "MedianGrad"
    functional = False
    tensors = (0, 1, 2, 3)

    def infer(self, call: Call) -> Spec:
        return TensorSpec(call.dtype(0), call.shape(1))

    def kernel(self, call: Call, dout: Array, x: Array, _y: Array, at: Array) -> Array:
        out = np.zeros(x.shape, dout.dtype)
        if not x.ndim:
            return dout.reshape(())
        axis = call.attrs["axis"]
        if not call.attrs["keep_dims"]:
            dout, at = np.expand_dims(dout, axis), np.expand_dims(at, axis)
        np.put_along_axis(out, at, dout, axis)
        return out
