"""Boxes of pictures: overlaps, checks, codes."""

from __future__ import annotations

from typing import Any

from harness.errors import SettingError
from harness.framework.ops.primitives.models import (
    BoundingBoxDecode,
    BoundingBoxEncode,
    CheckValid,
)
from harness.framework.tensor import call

__all__ = ["bounding_box_decode", "bounding_box_encode", "check_valid", "iou"]

_ZEROS, _ONES = (0.0, 0.0, 0.0, 0.0), (1.0, 1.0, 1.0, 1.0)


def check_valid(bboxes: Any, img_metas: Any) -> Any:
    """Whether boxes (n, 4) lie in a picture (height, width, ratio)."""
    return CheckValid()(bboxes, img_metas)


def bounding_box_encode(
    anchor_box: Any, groundtruth_box: Any, means: tuple[float, ...] = _ZEROS, stds: tuple[float, ...] = _ONES
) -> Any:
    """The deltas that lead from anchors to boxes."""
    return BoundingBoxEncode(means, stds)(anchor_box, groundtruth_box)


def bounding_box_decode(
    anchor_box: Any,
    deltas: Any,
    max_shape: tuple[int, int],
    means: tuple[float, ...] = _ZEROS,
    stds: tuple[float, ...] = _ONES,
    wh_ratio_clip: float = 0.016,
) -> Any:
    """The boxes that ``deltas`` lead to from anchors."""
    return BoundingBoxDecode(max_shape, means, stds, wh_ratio_clip)(anchor_box, deltas)


def iou(anchor_boxes: Any, gt_boxes: Any, mode: str = "iou") -> Any:
    """Overlaps of boxes, a row for each of ``gt_boxes``; ``mode``: ``"iou"`` or ``"iof"``."""
    if mode not in ("iou", "iof"):
        raise SettingError(f"ops.iou: mode must be 'iou' or 'iof', got {mode!r}")
    names: dict[str, Any] = {"input_names": ["anchor_boxes", "gt_boxes"], "eps": 1.0}
    return call("IOU", anchor_boxes, gt_boxes, output_names=["overlap"], mode=mode, **names)
