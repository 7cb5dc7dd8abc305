"""``mindspore.dataset.vision``: transforms of images, which are arrays (height, width[, channels])."""

from typing import Any as _Any

from harness.errors import UnsupportedNameError as _UnsupportedNameError
from harness.errors import unsupported_name as _unsupported_name
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

__all__ = [
    "HWC2CHW", "Border", "CenterCrop", "Crop", "HorizontalFlip", "Inter", "Invert", "Normalize", "Pad", "RandomCrop",
    "RandomHorizontalFlip", "RandomResizedCrop", "RandomVerticalFlip", "Rescale", "Resize", "ToTensor", "ToType",
    "VerticalFlip",
]  # fmt: skip

#: what needs a library that decodes or holds images
PICTURES = ("Decode", "RandomCropDecodeResize", "ToPIL", "ToNumpy", "read_image", "encode_jpeg", "encode_png")


def __getattr__(name: str) -> _Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if name in PICTURES:
        raise _UnsupportedNameError(
            f"dataset.vision.{name} needs a library for image files, which the harness does not have; "
            "give decoded images as arrays (NumpySlicesDataset, GeneratorDataset)"
        )
    raise _unsupported_name("dataset.vision", name, __all__)
