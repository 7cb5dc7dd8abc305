"""AvgPool3D for volumes of depth 1 (what average pooling of images with padding becomes), and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.errors import UnsupportedError
from harness.framework.ops import numerics, window
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.framework.ops.operators.avg_pool import counts
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec

_KEPT = ("kernel_size", "strides", "input_names", "ceil_mode", "divisor_override", "pad_mode", "output_names", "format")


def geometry(call: Call, shape: tuple[int, ...]) -> tuple[window.Pair, window.Pair, window.Pads]:
    attrs = call.attrs
    if len(shape) != 5 or shape[2] != 1 or attrs["kernel_size"][2] != 1 or attrs["ceil_mode"]:
        raise UnsupportedError(f"{call.op} is supported for volumes of depth 1, without ceil_mode")
    kernel, stride, pads = attrs["kernel_size"], attrs["strides"], attrs["pad_list"]
    return (kernel[3], kernel[4]), (stride[3], stride[4]), (pads[2], pads[3], pads[4], pads[5])


def divisors(call: Call, shape: tuple[int, ...]) -> Any:
    """What each window's sum is divided by."""
    kernel, stride, pads = geometry(call, shape)
    if call.attrs["divisor_override"]:
        return call.attrs["divisor_override"]
    return kernel[0] * kernel[1] if call.attrs["count_include_pad"] else counts(shape, kernel, stride, pads)


@operator
class AvgPool3D(Operator):
    """x (n, c, 1, h, w): the mean of each window; padding counts with ``count_include_pad``."""

    name = "AvgPool3D"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        x = call.shape(0)
        kernel, stride, pads = geometry(call, x)
        out = window.out_size((x[3], x[4]), kernel, stride, pads)
        if min(out) < 1:
            raise call.fail(f"a window of {list(kernel)} does not fit")
        return TensorSpec(call.dtype(0), (*x[:3], *out))

    def kernel(self, call: Call, x: Array) -> Array:
        kernel, stride, pads = geometry(call, x.shape)
        view = window.windows(window.pad(numerics.wide(x), pads), kernel, stride)
        return np.asarray(numerics.total(view, (-4, -3)) / divisors(call, x.shape))

    def gradient(self, b: Backward) -> Sequence[Any]:
        names = {"input_names": ("origin_input_size", "grad"), "output_names": ("output",)}
        attrs = {name: names.get(name, b.attrs[name]) for name in _KEPT}
        attrs |= {name: b.attrs[name] for name in ("pad_list", "count_include_pad")}
        return (emit("AvgPool3DGrad", tuple(b.inputs[0].shape), b.dout, **attrs),)


@operator
class AvgPool3DGrad(Operator):
    """Shape of the input, dout."""

    name = "AvgPool3DGrad"
    functional = False

    def infer(self, call: Call) -> Spec:
        return TensorSpec(call.dtype(1), ints(call, 0))

    def kernel(self, call: Call, _shape: Any, dout: Array) -> Array:
        shape = call.outputs()[0].shape
        kernel, stride, pads = geometry(call, shape)
        share = numerics.wide(dout) / divisors(call, shape)
        parts = np.broadcast_to(share[:, :, :, None, None], (*share.shape[:3], *kernel, *share.shape[3:]))
        return window.unwindow(parts, (shape[3], shape[4]), stride, pads)
