"""Boxes of detection networks: overlaps, validity, deltas from anchors and back.

Boxes are (n, 4): x0, y0, x1, y1, corners included, so that a box is x1 - x0 + 1 wide.
Source: MindSpore 2.10.0 CPU, measured.
"""

from __future__ import annotations

import math

import numpy as np

from harness import dtypes
from harness.framework.ops import numerics
from harness.framework.ops.base import Array, Call, Operator, operator
from harness.framework.ops.elementwise import check_kind
from harness.graph import Spec, TensorSpec


def _boxes(call: Call, *positions: int) -> None:
    check_kind(call, "f", *positions)
    for at in positions:
        if len(call.shape(at)) != 2 or call.shape(at)[1] != 4:
            raise call.fail(f"argument {at} must be boxes (n, 4)")


@operator
class IOU(Operator):
    """Anchors (n, 4), boxes (m, 4): (m, n), their common area over that of both (``iou``) or of the box (``iof``)."""

    name = "IOU"
    functional = False
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        _boxes(call, 0, 1)
        if call.attrs["mode"] not in ("iou", "iof"):
            raise call.fail(f"mode must be iou or iof, got {call.attrs['mode']!r}")
        return TensorSpec(call.dtype(0), (call.shape(1)[0], call.shape(0)[0]))

    def kernel(self, call: Call, anchors: Array, boxes: Array) -> Array:
        a, b = numerics.wide(anchors)[None], numerics.wide(boxes)[:, None]
        width = np.minimum(a[..., 2], b[..., 2]) - np.maximum(a[..., 0], b[..., 0]) + 1
        height = np.minimum(a[..., 3], b[..., 3]) - np.maximum(a[..., 1], b[..., 1]) + 1
        common = np.maximum(width, 0) * np.maximum(height, 0)
        area_a, area_b = ((x[..., 2] - x[..., 0] + 1) * (x[..., 3] - x[..., 1] + 1) for x in (a, b))
        area = area_a + area_b - common if call.attrs["mode"] == "iou" else area_b
        return np.asarray(np.divide(common, area, out=np.zeros(common.shape), where=common != 0))


@operator
class CheckValid(Operator):
    """Boxes, and (height, width, ratio): whether each lies inside the picture of height * ratio and width * ratio."""

    name = "CheckValid"
    functional = False
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        if len(call.shape(0)) != 2 or call.shape(0)[1] != 4 or call.shape(1) != (3,):
            raise call.fail("boxes (n, 4) and (height, width, ratio) are needed")
        return TensorSpec(dtypes.bool_, (call.shape(0)[0],))

    def kernel(self, call: Call, boxes: Array, metas: Array) -> Array:
        x0, y0, x1, y1 = numerics.wide(boxes).T
        height, width, ratio = numerics.wide(metas)
        return np.asarray((x0 >= 0) & (y0 >= 0) & (x1 <= width * ratio - 1) & (y1 <= height * ratio - 1))


def _middles(boxes: Array) -> tuple[Array, Array, Array, Array]:
    """Middle (x, y), width and height."""
    x0, y0, x1, y1 = numerics.wide(boxes).T
    return (x0 + x1) * 0.5, (y0 + y1) * 0.5, x1 - x0 + 1, y1 - y0 + 1


class _Deltas(Operator):
    """Two tensors of boxes of one length."""

    functional = False
    tensors = (0, 1)

    def infer(self, call: Call) -> Spec:
        _boxes(call, 0, 1)
        if call.shape(0) != call.shape(1):
            raise call.fail("both tensors must have one shape")
        return call.tensor(0).tensor


@operator
class BoundingBoxEncode(_Deltas):
    """Anchors and boxes: (dx, dy, dw, dh), less ``means``, over ``stds``."""

    name = "BoundingBoxEncode"

    def kernel(self, call: Call, anchors: Array, boxes: Array) -> Array:
        x, y, w, h = _middles(anchors)
        gx, gy, gw, gh = _middles(boxes)
        deltas = np.stack([(gx - x) / w, (gy - y) / h, np.log(gw / w), np.log(gh / h)], axis=1)
        return np.asarray((deltas - np.array(call.attrs["means"])) / np.array(call.attrs["stds"]))


@operator
class BoundingBoxDecode(_Deltas):
    """Anchors and deltas: boxes, cut to ``max_shape``; sides change by at most ``wh_ratio_clip``."""

    name = "BoundingBoxDecode"

    def kernel(self, call: Call, anchors: Array, deltas: Array) -> Array:
        x, y, w, h = _middles(anchors)
        values = numerics.wide(deltas) * np.array(call.attrs["stds"]) + np.array(call.attrs["means"])
        most = abs(math.log(call.attrs["wh_ratio_clip"]))
        dx, dy = values[:, 0], values[:, 1]
        dw, dh = np.clip(values[:, 2], -most, most), np.clip(values[:, 3], -most, most)
        mx, my, half_w, half_h = x + w * dx, y + h * dy, w * np.exp(dw) * 0.5, h * np.exp(dh) * 0.5
        height, width = call.attrs["max_shape"]
        sides = (
            np.clip(mx - half_w + 0.5, 0, width), np.clip(my - half_h + 0.5, 0, height),
            np.clip(mx + half_w - 0.5, 0, width), np.clip(my + half_h - 0.5, 0, height),
        )  # fmt: skip
        return np.stack(sides, axis=1)
