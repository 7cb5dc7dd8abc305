"""``mindspore.dataset.vision``: transforms of images, which are arrays (height, width[, channels])."""

from harness.framework import kinds as _kinds
from harness.framework.dataset.vision.decoding import Decode, RandomColorAdjust, RandomCropDecodeResize, ToPIL
from harness.framework.dataset.vision.geometry import (
    CenterCrop,
    Crop,
    HorizontalFlip,
    Pad,
    RandomCrop,
    RandomHorizontalFlip,
    RandomResizedCrop,
    RandomVerticalFlip,
    Resize,
    VerticalFlip,
)
from harness.framework.dataset.vision.utils import Border, Inter
from harness.framework.dataset.vision.values import HWC2CHW, Invert, Normalize, Rescale, ToTensor, ToType
from harness.framework.names import fallback as _fallback

__all__ = [
    "HWC2CHW",
    "Border",
    "CenterCrop",
    "Crop",
    "Decode",
    "HorizontalFlip",
    "Inter",
    "Invert",
    "Normalize",
    "Pad",
    "RandomColorAdjust",
    "RandomCrop",
    "RandomCropDecodeResize",
    "RandomHorizontalFlip",
    "RandomResizedCrop",
    "RandomVerticalFlip",
    "Rescale",
    "Resize",
    "ToPIL",
    "ToTensor",
    "ToType",
    "VerticalFlip",
]  # fmt: skip

_members = {_name: globals()[_name] for _name in __all__}
_kinds.guard_all("vision", _members)
globals().update(_members)
__getattr__ = _fallback(__name__)
