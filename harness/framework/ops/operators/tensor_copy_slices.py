"""TensorCopySlices: a copy of a tensor with a slice of its rows replaced."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.framework.tensor import Tensor
from harness.framework.tensor import call as emit
from harness.graph import Spec


@operator
class TensorCopySlices(Operator):
    """x, value, begin, end, strides (one int for each axis that is sliced)."""

    name = "TensorCopySlices"
    functional = False
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        probe = np.empty(call.shape(0), np.int8)[_slices(*(ints(call, at) for at in (2, 3, 4)))]
        if np.prod(call.shape(1), dtype=int) != probe.size or call.dtype(1) is not call.dtype(0):
            raise call.fail(f"the value must have {probe.size} elements and the dtype of the tensor")
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array, value: Array, *_bounds: Any) -> Array:
        out = x.copy()
        part = out[_slices(*(ints(call, at) for at in (2, 3, 4)))]
        part[...] = value.reshape(part.shape)
        return out

    def gradient(self, b: Backward) -> Sequence[Any]:
        _x, value, *bounds = b.inputs
        zeros = Tensor(np.zeros(value.shape, value.dtype.numpy), value.dtype)
        dx = emit(self.name, b.dout, zeros, *bounds) if b.needs[0] else None
        dvalue = emit("StridedSlice", b.dout, *bounds, 0, 0, 0, 0, 0) if b.needs[1] else None
        if dvalue is not None and dvalue.shape != value.shape:
            dvalue = emit("Reshape", dvalue, tuple(value.shape))
        return dx, dvalue, None, None, None


def _slices(begin: Any, end: Any, strides: Any) -> tuple[slice, ...]:
    return tuple(slice(int(b), int(e), int(s)) for b, e, s in zip(begin, end, strides, strict=True))
