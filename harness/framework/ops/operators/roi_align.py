"""ROIAlign: regions of (n, c, h, w) sampled to one size; and its gradient.

Source: MindSpore 2.10.0 CPU, measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor
from typing import Any

import numpy as np

from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Backward, Call, Operator, operator
from harness.framework.ops.constants import int_tensor, ints
from harness.framework.ops.elementwise import check_kind
from harness.framework.tensor import call as emit
from harness.graph import Spec, TensorSpec


def _axis(begin: float, size: float, bins: int, samples: int, length: int) -> Array:
    """(bins, length): the share of each place of an axis in the mean of a bin's samples; 0 outside the axis. Without
    a number of samples one for each whole place of a bin: none of a small one, whose mean is NaN."""
    count = samples if samples > 0 else floor(size / bins)
    shares = np.full((bins, length), 0.0 if count else np.nan)
    for b in range(bins):
        for s in range(count):
            at = begin + (b + (s + 0.5) / count) * size / bins
            if at < -1.0 or at > length:
                continue
            at = max(at, 0.0)
            low = min(int(at), length - 1)
            high = min(low + 1, length - 1)
            part = at - low if low < length - 1 else 0.0
            shares[b, low] += (1 - part) / count
            shares[b, high] += part / count
    return shares


def _shares(roi: Array, shape: tuple[int, ...], attrs: Mapping[str, Any], end: int) -> tuple[Array, Array]:
    scale, samples = attrs["spatial_scale"], attrs["sample_num"]
    x0, y0 = roi[1] * scale, roi[2] * scale
    width, height = (roi[3] + end) * scale - x0, (roi[4] + end) * scale - y0
    if not end:
        width, height = max(width, 1.0), max(height, 1.0)
    return (_axis(y0, height, attrs["pooled_height"], samples, shape[2]),
            _axis(x0, width, attrs["pooled_width"], samples, shape[3]))  # fmt: skip


@operator
class ROIAlign(Operator):
    """Features (n, c, h, w) and regions (r, 5): picture, x0, y0, x1, y1. Gives (r, c, pooled h, pooled w)."""

    name = "ROIAlign"
    functional = False
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        check_kind(call, "f", 0, 1)
        x, rois = call.shape(0), call.shape(1)
        if len(x) != 4 or len(rois) != 2 or rois[1] != 5:
            raise call.fail("features (n, c, h, w) and regions (r, 5) are needed")
        return TensorSpec(call.dtype(0), (rois[0], x[1], call.attrs["pooled_height"], call.attrs["pooled_width"]))

    def kernel(self, call: Call, x: Array, rois: Array) -> Array:
        values, out = numerics.wide(x), np.zeros(call.outputs()[0].shape)
        for at, roi in enumerate(numerics.wide(rois)):
            rows, columns = _shares(roi, x.shape, call.attrs, call.attrs["roi_end_mode"])
            out[at] = numerics.matmul(numerics.matmul(rows[None], values[int(roi[0])]), columns.T[None])
        return out

    def gradient(self, b: Backward) -> Sequence[Any]:
        x, rois = b.inputs
        a, shape = b.attrs, tuple(x.shape)
        attrs = {"pooled_height": a["pooled_height"], "input_names": ("dy", "rois", "xdiff_shape"),
                 "sample_num": a["sample_num"], "xdiff_shape": shape, "output_names": ("dx",),
                 "pooled_width": a["pooled_width"], "spatial_scale": a["spatial_scale"]}  # fmt: skip
        return emit("ROIAlignGrad", b.dout, rois, int_tensor(shape), **attrs), None


@operator
class ROIAlignGrad(Operator):
    """dout, regions, shape of the features. Regions end at their last corner plus 1, whatever the forward did."""

    name = "ROIAlignGrad"
    functional = False
    tensors = (0, 1)
    unread = frozenset({2})

    def infer(self, call: Call) -> Spec:
        return TensorSpec(call.dtype(0), ints(call, 2))

    def kernel(self, call: Call, dout: Array, rois: Array, _shape: Any) -> Array:
        out, values = np.zeros(call.outputs()[0].shape), numerics.wide(dout)
        for at, roi in enumerate(numerics.wide(rois)):
            if not roi[1:].any():  # it takes such a region for none (measured)
                continue
            rows, columns = map(np.nan_to_num, _shares(roi, out.shape, call.attrs, 1))
            out[int(roi[0])] += numerics.matmul(numerics.matmul(rows.T[None], values[at]), columns[None])
        return out
