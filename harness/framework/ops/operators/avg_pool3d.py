"""AvgPool3D (NCDHW), which average pooling of images with padding becomes, too, and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np

from harness.errors import UnsupportedError
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.framework.ops.volume import places, spread
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec

_KEPT = ("kernel_size", "strides", "input_names", "ceil_mode", "divisor_override", "pad_mode", "output_names", "format")


def around(call: Call, shape: Sequence[int], out: Sequence[int]) -> tuple[int, ...]:
    """How much stands before and after (d, h, w) of an input of ``shape``: its padding, and with ``ceil_mode`` what
    the last windows reach beyond it."""
    attrs = call.attrs
    axes = zip(shape[2:], attrs["kernel_size"][2:], attrs["strides"][2:], attrs["pad_list"][::2],
               attrs["pad_list"][1::2], out, strict=True)  # fmt: skip
    reach = [(before, max(after, (m - 1) * s + k - n - before)) for n, k, s, before, after, m in axes]
    return tuple(n for pair in reach for n in pair)


def _grown(x: Array, pads: Sequence[int], value: int = 0) -> Array:
    return np.pad(x, [(0, 0), (0, 0), *zip(pads[::2], pads[1::2], strict=True)], constant_values=value)


def _windows(call: Call, size: Sequence[int]) -> tuple[int, ...]:
    """Number of windows along each axis. With ``ceil_mode`` a last one may reach beyond the padding, but begins in the
    input or the padding before it (measured)."""
    attrs = call.attrs
    kernel, stride, pads = attrs["kernel_size"][2:], attrs["strides"][2:], attrs["pad_list"]
    if not attrs["ceil_mode"]:
        return places(size, kernel, stride, pads)
    axes = zip(size, kernel, stride, pads[::2], pads[1::2], strict=True)
    return tuple(
        min(-(-(n + before + after - k) // s) + 1, (n + before - 1) // s + 1) for n, k, s, before, after in axes
    )


def _parts(call: Call, padded: Array, out: tuple[int, ...]) -> Array:
    """The elements of every window, a row of ``out`` for each place in the kernel."""
    at = product(*map(range, call.attrs["kernel_size"][2:]))
    return np.stack([padded[spread(place, out, call.attrs["strides"][2:])] for place in at])


def divisors(call: Call, shape: tuple[int, ...], out: tuple[int, ...]) -> Any:
    """What each window's sum is divided by."""
    if call.attrs["divisor_override"]:
        return call.attrs["divisor_override"]
    pads, reach = tuple(call.attrs["pad_list"]), around(call, shape, out)
    counted = bool(call.attrs["count_include_pad"])
    if counted and reach == pads:
        return prod(call.attrs["kernel_size"])
    inner = _grown(np.ones((1, 1, *shape[2:])), pads, int(counted))
    return _parts(call, _grown(inner, [n - m for n, m in zip(reach, pads, strict=True)]), out).sum(axis=0)


@operator
class AvgPool3D(Operator):
    """x (n, c, d, h, w): the mean of each window; padding counts with ``count_include_pad``."""

    name = "AvgPool3D"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        x, attrs = call.shape(0), call.attrs
        if len(x) != 5:
            raise UnsupportedError(f"{call.op} is supported for volumes, got shape {x}")
        out = _windows(call, x[2:])
        if min(out) < 1:
            raise call.fail(f"a window of {list(attrs['kernel_size'][2:])} does not fit into {list(x[2:])}")
        return TensorSpec(call.dtype(0), (*x[:2], *out))

    def kernel(self, call: Call, x: Array) -> Array:
        out = call.outputs()[0].shape[2:]
        parts = _parts(call, _grown(numerics.wide(x), around(call, x.shape, out)), out)
        return np.asarray(numerics.total(parts, 0) / divisors(call, x.shape, out))

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
        shape, out = call.outputs()[0].shape, dout.shape[2:]
        pads = around(call, shape, out)
        share = numerics.wide(dout) / divisors(call, shape, out)
        result = _grown(np.zeros(shape), pads)
        for at in product(*map(range, call.attrs["kernel_size"][2:])):
            result[spread(at, out, call.attrs["strides"][2:])] += share
        inner = tuple(slice(before, before + n) for before, n in zip(pads[::2], shape[2:], strict=True))
        return result[(slice(None), slice(None), *inner)]
