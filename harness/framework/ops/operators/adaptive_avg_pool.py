"""AdaptiveAvgPool2D: means over as many windows as the result has places; and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import int_tensor, ints
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


def spans(length: int, count: int) -> list[tuple[int, int]]:
    """Begin and end of each of ``count`` windows, which may overlap, over an axis of ``length``."""
    return [(i * length // count, -(-(i + 1) * length // count)) for i in range(count)]


@operator
class AdaptiveAvgPool2D(Operator):
    """x (..., h, w): means, attribute ``output_size`` of them along the last two axes."""

    name = "AdaptiveAvgPool2D"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        x, size = call.tensor(0), call.attrs["output_size"]
        if len(x.shape) not in (3, 4) or any(n < 1 and n != -1 for n in size):
            raise call.fail(f"a tensor of 3 or 4 axes and an output size above 0 are needed, got {size}")
        # -1 keeps an axis unchanged
        sides = tuple(given if n == -1 else n for n, given in zip(size, x.shape[-2:], strict=True))
        return TensorSpec(x.dtype, (*x.shape[:-2], *sides))

    def kernel(self, call: Call, x: Array) -> Array:
        out = np.zeros(call.outputs()[0].shape)
        for i, (top, bottom) in enumerate(spans(x.shape[-2], out.shape[-2])):
            for j, (left, right) in enumerate(spans(x.shape[-1], out.shape[-1])):
                part = numerics.wide(x)[..., top:bottom, left:right]
                out[..., i, j] = numerics.total(part, (-2, -1)) / ((bottom - top) * (right - left))
        return out

    def gradient(self, b: Backward) -> Sequence[Any]:
        attrs: dict[str, Any] = {"output_names": ("output_grad",), "input_names": ("input_grad", "orig_input_shape")}
        return (emit("AdaptiveAvgPool2DGrad", b.dout, int_tensor(b.inputs[0].shape), **attrs),)


@operator
class AdaptiveAvgPool2DGrad(Operator):
    """dout, shape of the input."""

    name = "AdaptiveAvgPool2DGrad"
    functional = False

    def infer(self, call: Call) -> Spec:
        return TensorSpec(call.dtype(0), ints(call, 1))

    def kernel(self, call: Call, dout: Array, _shape: Array) -> Array:
        out = np.zeros(call.outputs()[0].shape)
        for i, (top, bottom) in enumerate(spans(out.shape[-2], dout.shape[-2])):
            for j, (left, right) in enumerate(spans(out.shape[-1], dout.shape[-1])):
                share = numerics.wide(dout)[..., i, j] / ((bottom - top) * (right - left))
                out[..., top:bottom, left:right] += share[..., None, None]
        return out
