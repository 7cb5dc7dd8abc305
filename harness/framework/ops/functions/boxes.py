"""Boxes, and other functions of older primitives: what each is called by."""

from __future__ import annotations

from typing import Any

from harness.errors import SettingTypeError
from harness.framework.ops.functions.resize import interpolate
from harness.framework.ops.primitives.models import (
    IOU,
    BoundingBoxDecode,
    BoundingBoxEncode,
    CheckValid,
    MirrorPad,
    positive,
)
from harness.framework.ops.primitives.volumes import Conv3D
from harness.framework.seed import operator_seeds
from harness.framework.tensor import Tensor, call

__all__ = [
    "bounding_box_decode", "bounding_box_encode", "check_valid", "choice_with_mask", "conv3d", "eps", "iou",
    "mirror_pad", "upsample",
]  # fmt: skip

_ZEROS, _ONES = (0.0, 0.0, 0.0, 0.0), (1.0, 1.0, 1.0, 1.0)


def iou(anchor_boxes: Any, gt_boxes: Any, mode: str = "iou") -> Any:
    """The overlap of each two boxes (m, 4) and (n, 4): (n, m), of their union, or for ``iof`` of the second."""
    return IOU(mode)(anchor_boxes, gt_boxes)


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


def choice_with_mask(input_x: Any, count: int = 256, seed: int | None = None) -> Any:
    """``count`` places drawn among those where a mask holds, and whether each is one."""
    positive("choice_with_mask", "count", count)
    seeds = operator_seeds("choice_with_mask", seed or 0)
    attrs: dict[str, Any] = {"random_cache": False, "count": count, "side_effect_hidden": True}
    return call("RandomChoiceWithMask", input_x, seed2=seeds[1], **attrs, seed=seeds[0])


def mirror_pad(input_x: Any, paddings: Any, mode: str) -> Any:
    """``input_x`` with its elements mirrored at its edges; ``paddings``: a pair for each axis (a tensor)."""
    return MirrorPad(mode)(input_x, paddings)


def upsample(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
) -> Any:
    """``interpolate`` under another name."""
    return interpolate(input, size, scale_factor, mode, align_corners, recompute_scale_factor)


def conv3d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    pad_mode: str = "valid",
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """The cross-correlation of volumes (n, c, d, h, w) with ``weight`` (k, c / groups, d, h, w), and ``bias`` (k,)."""
    pads = tuple(n for n in padding for _ in (0, 1)) if isinstance(padding, (tuple, list)) else padding
    found = Conv3D(weight.shape[0], tuple(weight.shape[2:5]), 1, pad_mode, pads, stride, dilation, groups)(
        input, weight
    )
    if bias is None:
        return found
    if not isinstance(bias, Tensor):
        raise SettingTypeError(f"conv3d: bias must be a tensor, got {type(bias).__name__}")
    return call("BiasAdd", found, bias, 0)


def eps(x: Any) -> Any:
    """The distance from 1 to the next number of the dtype of ``x``, in its shape."""
    return call("Eps", x, output_names=["y"], input_names=["x"])
