"""MaxPool (NCHW) and its gradient."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from harness.framework.ops import numerics, window
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


def geometry(call: Call, attrs: Mapping[str, Any]) -> tuple[window.Pair, window.Pair, window.Pads]:
    """Kernel, stride and padding over the input of ``call`` (argument 0)."""
    x = call.shape(0)
    if len(x) != 4:
        raise call.fail("the input must be (n, c, h, w)")
    kernel = attrs["kernel_size"][2], attrs["kernel_size"][3]
    stride = attrs["strides"][2], attrs["strides"][3]
    same = str(attrs["pad_mode"]).upper() == "SAME" and -1 not in x[2:]
    return kernel, stride, window.same_pads((x[2], x[3]), kernel, stride) if same else (0, 0, 0, 0)


@operator
class MaxPool(Operator):
    """Largest value of each window; NaN is ignored unless it stands last. Padding (mode SAME) never wins."""

    name = "MaxPool"
    functional = False
    tensors = (0,)

    def infer(self, call: Call) -> Spec:
        kernel, stride, pads = geometry(call, call.attrs)
        n, c, height, width = call.shape(0)
        if -1 in (height, width):
            return TensorSpec(call.dtype(0), (n, c, -1, -1))
        out = window.out_size((height, width), kernel, stride, pads)
        if min(out) < 1:
            raise call.fail(f"a window of {list(kernel)} does not fit into {[height, width]}")
        return TensorSpec(call.dtype(0), (n, c, *out))

    def kernel(self, call: Call, x: Array) -> Array:
        kernel, stride, pads = geometry(call, call.attrs)
        view = window.windows(window.pad(_comparable(x), pads, -np.inf), kernel, stride)
        best = view[:, :, 0, 0].copy()
        for i, j in np.ndindex(kernel):
            # As the CPU kernel compares (measured): the later value wins unless the earlier one is larger.
            np.copyto(best, view[:, :, i, j], where=~(best > view[:, :, i, j]))
        return best

    def gradient(self, b: Backward) -> Sequence[Any]:
        x = b.inputs[0]
        attrs = {
            "kernel_size": b.attrs["kernel_size"], "strides": b.attrs["strides"],
            "input_names": ("x_origin", "out_origin", "grad"), "data_format": b.attrs["format"],
            "pad_mode": b.attrs["pad_mode"], "output_names": ("output",), "format": b.attrs["format"],
        }  # fmt: skip
        return (emit("MaxPoolGrad", x, b.out, b.dout, **attrs),)


@operator
class MaxPoolGrad(Operator):
    """dout put where each window's maximum was (the first one in row order); overlaps add up."""

    name = "MaxPoolGrad"
    functional = False

    def infer(self, call: Call) -> Spec:
        return call.tensor(0).tensor

    def kernel(self, call: Call, x: Array, _out: Array, dout: Array) -> Array:
        kernel, stride, pads = geometry(call, call.attrs)
        view = window.windows(window.pad(_comparable(x), pads, -np.inf), kernel, stride)
        n, c, kh, kw, oh, ow = view.shape
        best = view[:, :, 0, 0].copy()
        best[np.isnan(best)] = -np.inf
        winner = np.zeros(best.shape, np.int32)
        for at, (i, j) in enumerate(np.ndindex(kh, kw)):
            larger = view[:, :, i, j] > best  # nothing is larger than NaN, nor NaN than anything
            np.copyto(best, view[:, :, i, j], where=larger)
            np.copyto(winner, at, where=larger)
        slope = numerics.wide(dout)
        parts = (np.where(winner == at, slope, 0.0) for at in range(kh * kw))
        return window.put_back(parts, (n, c, kh, kw, oh, ow), (x.shape[2], x.shape[3]), stride, pads)


def _comparable(x: Array) -> Array:
    """``x`` in a dtype that compares fast and as its own does: float32 as it is, if it holds no NaN (whose bits a
    conversion may change); else float64."""
    if x.dtype == np.float32 and not np.isnan(x).any():
        return x
    return numerics.wide(x)
