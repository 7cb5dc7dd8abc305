"""AvgPool (NCHW) and its gradient; padding does not count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.framework.ops import numerics, window
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import ints
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec

#: value of the pad mode argument
SAME = 1


def geometry(call: Call, first: int) -> tuple[window.Pair, window.Pair, window.Pads]:
    """Kernel, stride and padding from the arguments at ``first`` on, over the input (argument 0)."""
    x = call.shape(0)
    kernel, stride, (mode,) = ints(call, first), ints(call, first + 1), ints(call, first + 2)
    if len(x) != 4 or len(kernel) != 2 or len(stride) != 2:
        raise call.fail("the input must be (n, c, h, w), kernel and stride pairs")
    sides = (kernel[0], kernel[1]), (stride[0], stride[1])
    same = mode == SAME and -1 not in x[2:]
    return *sides, window.same_pads((x[2], x[3]), *sides) if same else (0, 0, 0, 0)


def counts(size: tuple[int, ...], kernel: window.Pair, stride: window.Pair, pads: window.Pads) -> Array:
    """How many elements of the input each window holds."""
    inside = window.windows(window.pad(np.ones(size[-2:]), pads), kernel, stride)
    return np.asarray(inside.sum(axis=(0, 1)))


@operator
class AvgPool(Operator):
    """x, kernel, stride, pad mode (1 same, 2 valid), format: the mean of each window."""

    name = "AvgPool"
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        kernel, stride, pads = geometry(call, 1)
        n, c, height, width = call.shape(0)
        if -1 in (height, width):
            return TensorSpec(call.dtype(0), (n, c, -1, -1))
        out = window.out_size((height, width), kernel, stride, pads)
        if min(out) < 1:
            raise call.fail(f"a window of {list(kernel)} does not fit into {[height, width]}")
        return TensorSpec(call.dtype(0), (n, c, *out))

    def kernel(self, call: Call, x: Array, *_settings: Any) -> Array:
        kernel, stride, pads = geometry(call, 1)
        view = window.windows(window.pad(numerics.wide(x), pads), kernel, stride)
        return numerics.held(numerics.total(view, (2, 3)), x) / counts(x.shape, kernel, stride, pads)

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, *settings = b.inputs
        return emit("AvgPoolGrad", x, b.out, b.dout, *settings), *[None] * 4


@operator
class AvgPoolGrad(Operator):
    """x, out, dout, kernel, stride, pad mode, format: dout spread evenly over each window."""

    name = "AvgPoolGrad"

    def infer(self, call: Call) -> Spec:
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array, _out: Array, dout: Array, *_settings: Any) -> Array:
        kernel, stride, pads = geometry(call, 3)
        share = numerics.wide(dout) / counts(x.shape, kernel, stride, pads)
        parts = np.broadcast_to(share[:, :, None, None], (*share.shape[:2], *kernel, *share.shape[2:]))
        return window.unwindow(parts, (x.shape[2], x.shape[3]), stride, pads)

    def gradient(self, b: Backward) -> Sequence[Any]:
        settings = b.inputs[3:]
        return None, None, emit("AvgPool", b.dout, *settings), *[None] * 4
