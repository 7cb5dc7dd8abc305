"""Conv2D (NCHW) with groups and dilation, and its two gradients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from harness.errors import OperandError
from harness.framework.ops import convolve, window
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import int_tensor, ints
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec

#: attributes a gradient takes over from the convolution, in the order the ``.ir`` prints them
_KEPT = ("kernel_size", "mode", "out_channel")
_LATER = ("format", "pad_list", "groups", "stride", "group", "dilation")


def _attrs(attrs: Mapping[str, Any], mode: str, names: tuple[str, ...]) -> dict[str, Any]:
    """Attributes of a gradient node, in the order the ``.ir`` prints them."""
    kept = {name: attrs[name] for name in _KEPT}
    later = {name: attrs[name] for name in _LATER}
    return (
        kept
        | {"input_names": names, "pad": attrs["pad"], "pad_mode": mode}
        | later
        | {"data_format": attrs["format"], "output_names": ("output",)}
    )


def _input_attrs(attrs: Mapping[str, Any]) -> dict[str, Any]:
    return _attrs(attrs, str(attrs["pad_mode"]).upper(), ("out_backprop", "filter", "input_sizes"))


def _filter_attrs(attrs: Mapping[str, Any]) -> dict[str, Any]:
    return _attrs(attrs, str(attrs["pad_mode"]).upper(), ("out_backprop", "input", "filter_sizes"))


def _forward_attrs(attrs: Mapping[str, Any]) -> dict[str, Any]:
    return _attrs(attrs, str(attrs["pad_mode"]).lower(), ("x", "w"))


def steps(attrs: Mapping[str, Any]) -> tuple[window.Pair, window.Pair]:
    """Stride and dilation of the two spatial axes."""
    stride, dilation = attrs["stride"], attrs["dilation"]
    return (stride[2], stride[3]), (dilation[2], dilation[3])


def _kernel(attrs: Mapping[str, Any]) -> window.Pair:
    size = attrs["kernel_size"]
    return (size, size) if isinstance(size, int) else (size[0], size[1])


def padding(attrs: Mapping[str, Any], size: window.Pair) -> window.Pads:
    """Top, bottom, left, right for an input of ``size``: from ``pad_mode`` alone; ``pad_list`` is ignored."""
    mode = str(attrs["pad_mode"]).lower()
    if mode == "valid":
        return 0, 0, 0, 0
    if mode == "same":
        stride, dilation = steps(attrs)
        return window.same_pads(size, _kernel(attrs), stride, dilation)
    top, bottom, left, right = attrs["pad"]
    return top, bottom, left, right


def padded(x: Array, attrs: Mapping[str, Any]) -> Array:
    """``x`` (n, c, h, w) with its padding."""
    return window.pad(x, padding(attrs, (x.shape[2], x.shape[3])))


@operator
class Conv2D(Operator):
    """Cross-correlation of x (n, c, h, w) with weight (out, c / group, kh, kw)."""

    name = "Conv2D"
    functional = False

    def infer(self, call: Call) -> Spec:
        x, w = call.shape(0), call.shape(1)
        if len(x) != 4 or len(w) != 4:
            raise call.fail("the input must be (n, c, h, w) and the weight (out, c / group, kh, kw)")
        if x[1] != w[1] * call.attrs["group"] and -1 not in (x[1], w[1]):
            raise OperandError(f"{call.fail('')}{x[1]} channels for a weight of {w[1]} x group {call.attrs['group']}")
        if w[0] != call.attrs["out_channel"] or tuple(w[2:]) != _kernel(call.attrs):
            raise call.fail(f"the weight must be {call.attrs['out_channel']} x kernel {call.attrs['kernel_size']}")
        if -1 in x[2:]:
            return TensorSpec(call.dtype(0), (x[0], w[0], -1, -1))
        stride, dilation = steps(call.attrs)
        size = (x[2], x[3])
        pads = padding(call.attrs, size)
        out = window.out_size(size, (w[2], w[3]), stride, pads, dilation)
        # A kernel that fits without its dilation gives no elements where it does not fit with it (measured).
        if min(window.out_size(size, (w[2], w[3]), stride, pads)) < 1:
            raise call.fail(f"a kernel of {list(w[2:])} does not fit into {list(size)} with its padding")
        return TensorSpec(call.dtype(0), (x[0], w[0], *(max(each, 0) for each in out)))

    def kernel(self, call: Call, x: Array, w: Array) -> Array:
        if 0 in (shape := call.outputs()[0].shape):
            return np.zeros(shape, x.dtype)
        given = call.attrs["group"], steps(call.attrs), call.outputs()[0].dtype
        return convolve.correlate(padded(x, call.attrs), w, *given)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, w = b.inputs
        dx = (
            emit("Conv2DBackpropInput", b.dout, w, int_tensor(x.shape), **_input_attrs(b.attrs)) if b.needs[0] else None
        )
        dw = (
            emit("Conv2DBackpropFilter", b.dout, x, int_tensor(w.shape), **_filter_attrs(b.attrs))
            if b.needs[1]
            else None
        )
        return dx, dw


@operator
class Conv2DBackpropInput(Operator):
    """Gradient for the input: dout, weight, shape of the input."""

    name = "Conv2DBackpropInput"
    functional = False
    unread = frozenset({2})

    def infer(self, call: Call) -> Spec:
        given, weight = call.shape(0), call.shape(1)
        if -1 not in (given[1], weight[0]) and given[1] != weight[0]:
            raise OperandError(f"{call.op}: {given[1]} channels for a weight of {weight[0]}")
        return TensorSpec(call.dtype(0), ints(call, 2))

    def kernel(self, call: Call, dout: Array, w: Array, _size: Any) -> Array:
        out = call.outputs()[0]
        size = (out.shape[2], out.shape[3])
        stride, dilation = steps(call.attrs)
        geometry = size, stride, padding(call.attrs, size), dilation
        return convolve.spread(dout, w, call.attrs["group"], out.dtype, geometry)

    def gradient(self, b: Backward) -> Sequence[Any]:
        dout, w, _size = b.inputs
        ddout = emit("Conv2D", b.dout, w, **_forward_attrs(b.attrs)) if b.needs[0] else None
        size = int_tensor(w.shape)
        dw = emit("Conv2DBackpropFilter", dout, b.dout, size, **_filter_attrs(b.attrs)) if b.needs[1] else None
        return ddout, dw, None


@operator
class Conv2DTranspose(Conv2DBackpropInput):
    """The gradient of a convolution as a layer's operator: it stays a separate operator until the kernels are
    chosen."""

    name = "Conv2DTranspose"
    runs_as = "Conv2DBackpropInput"


@operator
class Conv2DBackpropFilter(Operator):
    """Gradient for the weight: dout, input, shape of the weight."""

    name = "Conv2DBackpropFilter"
    functional = False
    unread = frozenset({2})

    def infer(self, call: Call) -> Spec:
        return TensorSpec(call.dtype(0), ints(call, 2))

    def kernel(self, call: Call, dout: Array, x: Array, _size: Any) -> Array:
        out = call.outputs()[0]
        given = out.shape, call.attrs["group"], steps(call.attrs), out.dtype
        return convolve.gather(dout, padded(x, call.attrs), *given)

    def gradient(self, b: Backward) -> Sequence[Any]:
        dout, x, _size = b.inputs
        ddout = emit("Conv2D", x, b.dout, **_forward_attrs(b.attrs)) if b.needs[0] else None
        size = int_tensor(x.shape)
        dx = emit("Conv2DBackpropInput", dout, b.dout, size, **_input_attrs(b.attrs)) if b.needs[1] else None
        return ddout, dx, None
