"""MaxPool3DWithArgmax: the largest value of each window of volumes, and its place; and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from harness import dtypes
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec, TupleSpec

#: attributes of the gradient, in the order of the graph
_ORDER = ("strides", "input_names", "argmax_type", "pads", "ceil_mode", "dilation", "ksize", "output_names", "format")
#: window, stride, padding and dilation along an axis
Axis = tuple[int, int, int, int]


def _count(size: int, axis: Axis, ceil: bool) -> int:
    """How many windows stand along an axis; one that begins in the padding at the end does not count."""
    kernel, stride, pad, dilation = axis
    span = size + 2 * pad - dilation * (kernel - 1) - 1
    count = (span + (stride - 1 if ceil else 0)) // stride + 1
    return count - (ceil and (count - 1) * stride >= size + pad)


@operator
class MaxPool3DWithArgmax(Operator):
    """x (n, c, d, h, w): the largest values, and their places in a flat volume, which the CPU's kernel gives as int32
    whatever ``argmax_type`` says (measured). Padding never wins."""

    name = "MaxPool3DWithArgmax"
    functional = False
    tensors = (0,)

    @staticmethod
    def _axes(call: Call) -> list[Axis]:
        return list(zip(*(call.attrs[name] for name in ("ksize", "strides", "pads", "dilation")), strict=True))

    def infer(self, call: Call) -> Spec:
        shape, axes = call.shape(0), self._axes(call)
        if len(shape) != 5:
            raise call.fail("the input must be (n, c, d, h, w)")
        if any(kernel < 1 or stride < 1 or dilation < 1 for kernel, stride, _, dilation in axes):
            raise call.fail("ksize, strides and dilation must be above 0")
        if any(2 * pad > kernel or pad < 0 for kernel, _, pad, _ in axes):
            raise call.fail("pads must be at most half of a window")
        out = [_count(n, axis, call.attrs["ceil_mode"]) for n, axis in zip(shape[2:], axes, strict=True)]
        if min(out) < 1:
            raise call.fail(f"a window of {list(call.attrs['ksize'])} does not fit into {list(shape[2:])}")
        found = (*shape[:2], *out)
        return TupleSpec((TensorSpec(call.dtype(0), found), TensorSpec(dtypes.int32, found)))

    def kernel(self, call: Call, x: Array) -> tuple[Array, Array]:
        shape, wide, axes = call.outputs()[0].shape, numerics.wide(x), self._axes(call)
        best, place = np.full(shape, -np.inf), np.full(shape, -1, np.int64)
        for at in product(*(range(kernel) for kernel, *_ in axes)):
            spots = [
                np.arange(count) * stride - pad + step * dilation
                for step, count, (_, stride, pad, dilation) in zip(at, shape[2:], axes, strict=True)
            ]
            d, h, w = ((spot >= 0) & (spot < n) for spot, n in zip(spots, x.shape[2:], strict=True))
            inside = d[:, None, None] & h[:, None] & w
            kept: tuple[Any, ...] = np.ix_(
                *(np.clip(spot, 0, n - 1) for spot, n in zip(spots, x.shape[2:], strict=True))
            )
            value = wide[(slice(None), slice(None), *kept)]
            wins = inside & ((place < 0) | (value > best) | (np.isnan(value) & ~np.isnan(best)))
            flat = np.ravel_multi_index(np.broadcast_arrays(*kept), x.shape[2:])
            best, place = np.where(wins, value, best), np.where(wins, flat, place)
        return best, place

    def gradient(self, b: Backward) -> Sequence[Any]:
        names = {"input_names": ("x", "grads", "argmax"), "output_names": ("y",)}
        attrs = {name: names.get(name, b.attrs[name]) for name in _ORDER}
        places = emit("Cast", b.out[1], dtypes.int64)
        return (emit("MaxPool3DGradWithArgmax", b.inputs[0], b.dout[0], places, **attrs),)


@operator
class MaxPool3DGradWithArgmax(Operator):
    """x, dout, places: dout added up where each window's largest value was."""

    name = "MaxPool3DGradWithArgmax"
    functional = False

    def infer(self, call: Call) -> Spec:
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array, dout: Array, places: Array) -> Array:
        lead = x.shape[0] * x.shape[1]
        out = np.zeros((lead, x.size // max(1, lead)))
        rows = np.arange(lead)[:, None]
        np.add.at(out, (rows, places.reshape(lead, -1)), numerics.wide(dout).reshape(lead, -1))
        return out.reshape(x.shape)
