"""Conv3D (NCDHW), its gradients, and Conv3DTranspose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import int_tensor, ints
from harness.framework.ops.volume import places, spread
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


def _padded(x: Array, attrs: Mapping[str, Any]) -> Array:
    pads = attrs["pad_list"]
    return np.pad(numerics.wide(x), [(0, 0), (0, 0), *zip(pads[::2], pads[1::2], strict=True)])


def _positions(attrs: Mapping[str, Any], out: Sequence[int]) -> list[tuple[tuple[int, ...], tuple[slice, ...]]]:
    """Each position of the kernel, and what it meets of the padded input."""
    stride, dilation = attrs["strides"][2:], attrs["dilations"][2:]
    return [(at, spread(at, out, stride, dilation)) for at in product(*map(range, attrs["kernel_size"]))]


def _gradient_attrs(attrs: Mapping[str, Any], names: tuple[str, ...], size: str, shape: tuple[int, ...]) -> Any:
    order = ("kernel_size", "mode", "out_channel", "input_names", "pad", "pad_mode", "format", "pad_list", "groups",
             "stride", "dilations", "strides", "group", "dilation")  # fmt: skip
    changed = {"input_names": names, "stride": attrs["strides"], "dilation": attrs["dilations"]}
    kept = {name: changed.get(name, attrs[name]) for name in order}
    return kept | {"data_format": attrs["format"], "output_names": ("output",), size: shape}


def _forward(x: Array, w: Array, attrs: Mapping[str, Any], out: Sequence[int]) -> Array:
    groups, padded = attrs["group"], _padded(x, attrs)
    weight = numerics.wide(w).reshape(groups, w.shape[0] // groups, w.shape[1], *w.shape[2:])
    columns = [padded[where].reshape(x.shape[0], groups, w.shape[1], -1) for _, where in _positions(attrs, out)]
    cols = np.stack(columns, axis=3).reshape(x.shape[0], groups, -1, int(np.prod(out)))
    flat = weight.reshape(groups, w.shape[0] // groups, -1)
    return numerics.matmul(flat[None], cols).reshape(x.shape[0], w.shape[0], *out)


def _input_gradient(dout: Array, w: Array, attrs: Mapping[str, Any], shape: tuple[int, ...]) -> Array:
    groups, pads = attrs["group"], attrs["pad_list"]
    result = np.zeros(_padded(np.zeros((1, 1, *shape[2:])), attrs).shape[2:])
    result = np.zeros((*shape[:2], *result.shape))
    flat = numerics.wide(dout).reshape(dout.shape[0], groups, w.shape[0] // groups, -1)
    weight = numerics.wide(w).reshape(groups, w.shape[0] // groups, -1).transpose(0, 2, 1)
    parts = numerics.matmul(weight[None], flat)
    parts = parts.reshape(shape[0], shape[1], *w.shape[2:], *dout.shape[2:])
    for at, where in _positions(attrs, dout.shape[2:]):
        result[where] += parts[:, :, at[0], at[1], at[2]]
    inner = tuple(slice(p, p + n) for p, n in zip(pads[::2], shape[2:], strict=True))
    return result[(slice(None), slice(None), *inner)]


@operator
class Conv3D(Operator):
    """Cross-correlation of x (n, c, d, h, w) with weight (out, c / group, kd, kh, kw)."""

    name = "Conv3D"
    functional = False

    def infer(self, call: Call) -> Spec:
        x, w, attrs = call.shape(0), call.shape(1), call.attrs
        if len(x) != 5 or len(w) != 5 or x[1] != w[1] * attrs["group"]:
            raise call.fail("x (n, c, d, h, w) and a weight (out, c / group, kd, kh, kw) are needed")
        if w[0] != attrs["out_channel"] or tuple(w[2:]) != tuple(attrs["kernel_size"]):
            raise call.fail(f"the weight must be {attrs['out_channel']} x kernel {attrs['kernel_size']}")
        out = places(x[2:], w[2:], attrs["strides"][2:], attrs["pad_list"], attrs["dilations"][2:])
        if min(out) < 1:
            raise call.fail(f"a kernel of {list(w[2:])} does not fit into {list(x[2:])} with its padding")
        return TensorSpec(call.dtype(0), (x[0], w[0], *out))

    def kernel(self, call: Call, x: Array, w: Array) -> Array:
        return _forward(x, w, call.attrs, call.outputs()[0].shape[2:])

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, w = b.inputs
        dx = dw = None
        if b.needs[0]:
            attrs = _gradient_attrs(b.attrs, ("filter", "out_backprop", "input_size"), "input_size", tuple(x.shape))
            dx = emit("Conv3DBackpropInput", w, b.dout, int_tensor(x.shape), **attrs)
        if b.needs[1]:
            attrs = _gradient_attrs(b.attrs, ("input", "out_backprop", "filter_size"), "filter_size", tuple(w.shape))
            dw = emit("Conv3DBackpropFilter", x, b.dout, int_tensor(w.shape), **attrs)
        return dx, dw


@operator
class Conv3DBackpropInput(Operator):
    """Weight, dout, shape of the input."""

    name = "Conv3DBackpropInput"
    functional = False
    unread = frozenset({2})

    def infer(self, call: Call) -> Spec:
        return TensorSpec(call.dtype(1), ints(call, 2))

    def kernel(self, call: Call, w: Array, dout: Array, _size: Any) -> Array:
        return _input_gradient(dout, w, call.attrs, call.outputs()[0].shape)


@operator
class Conv3DBackpropFilter(Operator):
    """Input, dout, shape of the weight."""

    name = "Conv3DBackpropFilter"
    functional = False
    unread = frozenset({2})

    def infer(self, call: Call) -> Spec:
        return TensorSpec(call.dtype(0), ints(call, 2))

    def kernel(self, call: Call, x: Array, dout: Array, _size: Any) -> Array:
        shape, groups = call.outputs()[0].shape, call.attrs["group"]
        padded = _padded(x, call.attrs)
        n, total = x.shape[0], int(np.prod(dout.shape[2:]))
        where = _positions(call.attrs, dout.shape[2:])
        columns = np.stack([padded[at].reshape(n, groups, shape[1], total) for _, at in where], axis=3)
        right = columns.transpose(1, 0, 4, 2, 3).reshape(groups, n * total, -1)
        flat = numerics.wide(dout).reshape(n, groups, shape[0] // groups, total)
        left = flat.transpose(1, 2, 0, 3).reshape(groups, shape[0] // groups, n * total)
        return numerics.matmul(left, right).reshape(shape)


@operator
class Conv3DTranspose(Operator):
    """The gradient of a convolution for its input, as an operator: dout, weight; attribute ``input_size``."""

    name = "Conv3DTranspose"
    functional = False

    def infer(self, call: Call) -> Spec:
        if len(call.shape(0)) != 5 or call.shape(0)[1] != call.shape(1)[0]:
            raise call.fail("x (n, c, d, h, w) and a weight (c, out / group, kd, kh, kw) are needed")
        return TensorSpec(call.dtype(0), tuple(call.attrs["input_size"]))

    def kernel(self, call: Call, dout: Array, w: Array) -> Array:
        return _input_gradient(dout, w, call.attrs, call.outputs()[0].shape)

    def gradient(self, b: Backward) -> Sequence[Any]:
        dout, w = b.inputs
        a = b.attrs
        attrs = {
            "kernel_size": a["kernel_size"], "mode": a["mode"], "out_channel": a["in_channel"],
            "input_names": ("x", "w"), "pad": a["pad_list"], "offset_x": 0, "pad_mode": "pad", "format": a["format"],
            "pad_list": a["pad_list"], "groups": a["groups"], "stride": a["stride"], "dilations": a["dilations"],
            "strides": a["strides"], "group": a["group"], "dilation": a["dilation"], "data_format": a["format"],
            "output_names": ("output",),
        }  # fmt: skip
        ddout = emit("Conv3D", b.dout, w, **attrs) if b.needs[0] else None
        dw = None
        if b.needs[1]:
            names = ("input", "out_backprop", "filter_size")
            back = _gradient_attrs(attrs, names, "filter_size", tuple(w.shape))
            dw = emit("Conv3DBackpropFilter", b.dout, dout, int_tensor(w.shape), **back)
        return ddout, dw
