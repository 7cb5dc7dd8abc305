"""Im2Col and Col2Im: pictures as columns of patches, and patches added up to pictures. Each is the other's gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.framework.ops.elementwise import check_kind
from harness.framework.tensor import Tensor
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec

Pair = tuple[int, int]


def _count(size: Sequence[int], kernel: Pair, stride: Pair, pad: Pair, dilation: Pair) -> tuple[int, ...]:
    """How many patches stand along each axis."""
    axes = zip(size, kernel, stride, pad, dilation, strict=True)
    return tuple((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in axes)


def _places(size: Sequence[int], kernel: Pair, stride: Pair, pad: Pair, dilation: Pair) -> tuple[Array, Array]:
    """Rows and columns in the padded picture: (elements of a patch, patches)."""
    count = _count(size, kernel, stride, pad, dilation)
    rows, columns = (
        np.arange(k)[:, None] * d + np.arange(n) * s for k, d, n, s in zip(kernel, dilation, count, stride, strict=True)
    )
    shape = (*kernel, *count)
    flat = (kernel[0] * kernel[1], count[0] * count[1])
    return (
        np.broadcast_to(rows[:, None, :, None], shape).reshape(flat),
        np.broadcast_to(columns[None, :, None, :], shape).reshape(flat),
    )


@operator
class Im2Col(Operator):
    """x (n, c, h, w): (n, c, elements of a patch, patches). Attributes ksizes, strides, dilations, pads."""

    name = "Im2Col"
    functional = False
    tensors = (0,)

    @staticmethod
    def geometry(call: Call) -> tuple[Pair, Pair, Pair, Pair]:
        """Kernel, stride, padding and dilation."""
        return call.attrs["ksizes"], call.attrs["strides"], call.attrs["pads"], call.attrs["dilations"]

    def infer(self, call: Call) -> Spec:
        check_kind(call, "f", 0)
        x = call.shape(0)
        if len(x) != 4:
            raise call.fail("pictures of four axes are needed")
        kernel, *rest = self.geometry(call)
        count = _count(x[2:], kernel, *rest)
        if min(count) < 1:
            raise call.fail(f"a patch of {list(kernel)} does not fit")
        return TensorSpec(call.dtype(0), (*x[:2], kernel[0] * kernel[1], count[0] * count[1]))

    def kernel(self, call: Call, x: Array) -> Array:
        kernel, stride, pad, dilation = self.geometry(call)
        rows, columns = _places(x.shape[2:], kernel, stride, pad, dilation)
        padded = np.pad(x, ((0, 0), (0, 0), (pad[0],) * 2, (pad[1],) * 2))
        return np.asarray(padded[:, :, rows, columns])

    def gradient(self, b: Backward) -> Sequence[Any]:
        attrs: dict[str, Any] = {
            "kernel_size": b.attrs["ksizes"], "stride": b.attrs["strides"], "input_names": ("x", "output_size"),
            "padding": b.attrs["pads"], "dilation": b.attrs["dilations"], "output_names": ("y",),
        }  # fmt: skip
        return (emit("Col2Im", b.dout, Tensor(np.asarray(b.inputs[0].shape[2:], np.int32)), **attrs),)


@operator
class Col2Im(Operator):
    """x (n, c, elements of a patch, patches), size (a constant tensor): (n, c, h, w)."""

    name = "Col2Im"
    functional = False
    tensors = (0, 1)

    @staticmethod
    def geometry(call: Call) -> tuple[Pair, Pair, Pair, Pair]:
        """Kernel, stride, padding and dilation."""
        return call.attrs["kernel_size"], call.attrs["stride"], call.attrs["padding"], call.attrs["dilation"]

    def infer(self, call: Call) -> Spec:
        check_kind(call, "f", 0)
        x, size = call.shape(0), ints(call, 1)
        kernel, *rest = self.geometry(call)
        count = _count(size, kernel, *rest)
        if len(x) != 4 or x[2:] != (kernel[0] * kernel[1], count[0] * count[1]):
            raise call.fail(f"patches of {list(kernel)} do not make pictures of {list(size)}")
        return TensorSpec(call.dtype(0), (*x[:2], *size))

    def kernel(self, call: Call, x: Array, _size: Any) -> Array:
        *lead, height, width = call.outputs()[0].shape
        kernel, stride, pad, dilation = self.geometry(call)
        rows, columns = _places((height, width), kernel, stride, pad, dilation)
        out = np.zeros((lead[0] * lead[1], height + 2 * pad[0], width + 2 * pad[1]))
        pictures = np.arange(len(out))[:, None, None]
        np.add.at(out, (pictures, rows, columns), numerics.wide(x).reshape(-1, *x.shape[2:]))
        out = out.reshape(*lead, *out.shape[1:])
        return out[:, :, pad[0] : pad[0] + height, pad[1] : pad[1] + width]

    def gradient(self, b: Backward) -> Sequence[Any]:
        attrs: dict[str, Any] = {
            "dilations": b.attrs["dilation"], "strides": b.attrs["stride"], "input_names": ("x",),
            "pads": b.attrs["padding"], "padding_mode": "CALCULATED", "output_names": ("y",),
            "ksizes": b.attrs["kernel_size"],
        }  # fmt: skip
        return emit("Im2Col", b.dout, **attrs), None
