"""``mindspore.dataset.vision.utils``: names of interpolations and borders, and checks that transforms share."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum, StrEnum
from typing import Any

import numpy as np

from harness.errors import SettingError, SettingTypeError, StateError
from harness.framework.dataset.checks import mistyped, noted, outside, whole

__all__ = ["AutoAugmentPolicy", "Border", "ConvertMode", "ImageBatchFormat", "ImageReadMode", "Inter", "SliceMode"]

#: MindSpore's bound of sizes
LARGEST_SIZE = 16777216


class Inter(IntEnum):
    """Ways to interpolate."""

    NEAREST = 0
    ANTIALIAS = 1
    BILINEAR = LINEAR = 2
    BICUBIC = CUBIC = 3
    AREA = 4
    PILCUBIC = 5


class Border(StrEnum):
    """What surrounds an image: one value, the edge, or the image mirrored without or with its edge."""

    CONSTANT = "constant"
    EDGE = "edge"
    REFLECT = "reflect"
    SYMMETRIC = "symmetric"


class ConvertMode(IntEnum):
    """Conversions of colours."""

    COLOR_BGR2BGRA = COLOR_RGB2RGBA = 0
    COLOR_BGRA2BGR = COLOR_RGBA2RGB = 1
    COLOR_BGR2RGBA = COLOR_RGB2BGRA = 2
    COLOR_RGBA2BGR = COLOR_BGRA2RGB = 3
    COLOR_BGR2RGB = COLOR_RGB2BGR = 4
    COLOR_BGRA2RGBA = COLOR_RGBA2BGRA = 5
    COLOR_BGR2GRAY = 6
    COLOR_RGB2GRAY = 7
    COLOR_GRAY2BGR = COLOR_GRAY2RGB = 8
    COLOR_GRAY2BGRA = COLOR_GRAY2RGBA = 9
    COLOR_BGRA2GRAY = 10
    COLOR_RGBA2GRAY = 11


class ImageBatchFormat(IntEnum):
    """Where the channels of a batch of images are."""

    NHWC = 0
    NCHW = 1


class ImageReadMode(IntEnum):
    """How ``read_image`` reads."""

    UNCHANGED = 0
    GRAYSCALE = 1
    COLOR = 2


class SliceMode(IntEnum):
    """What ``SlicePatches`` does with what is left."""

    PAD = 0
    DROP = 1


class AutoAugmentPolicy(StrEnum):
    """The datasets whose augmentations ``AutoAugment`` takes."""

    IMAGENET = "imagenet"
    CIFAR10 = "cifar10"
    SVHN = "svhn"


def size_pair(size: Any, owner: str) -> tuple[int, int]:
    """(height, width) of an int or two; ``SettingTypeError`` / ``SettingError`` otherwise."""
    given = (size, size) if not isinstance(size, (list, tuple)) else tuple(size)
    if len(given) != 2:
        text = "Size should be a single integer or a list/tuple (h, w) of length 2."
        raise noted(SettingTypeError(text), size, "size", owner)
    high, wide = (whole(each, "size", owner, 1) for each in given)
    if max(high, wide) > LARGEST_SIZE:
        raise SettingError(f"{owner}: size must be at most {LARGEST_SIZE}, got {size!r}")
    return high, wide


def paddings(padding: Any, owner: str) -> tuple[int, int, int, int]:
    """(left, top, right, bottom) of an int, (left and right, top and bottom), or all four."""
    given = (padding,) * 4 if not isinstance(padding, (list, tuple)) else tuple(padding)
    if len(given) not in (2, 4):
        text = "The size of the padding list or tuple should be 2 or 4."
        raise noted(SettingError(text), padding, "padding", owner)
    left, top, right, bottom = (whole(each, "padding", owner, 0) for each in (given * 2)[:4])
    return left, top, right, bottom


def filling(fill_value: Any, owner: str) -> tuple[int, int, int]:
    """Values of three channels of an int or three in [0, 255]."""
    given = fill_value if isinstance(fill_value, tuple) else (fill_value,) * 3
    if len(given) != 3 or not all(isinstance(each, int) and not isinstance(each, bool) for each in given):
        text = "fill_value should be a single integer or a 3-tuple."
        raise noted(SettingTypeError(text), fill_value, "fill_value", owner)
    red, green, blue = given
    if not 0 <= min(given) <= max(given) <= 255:
        raise outside(fill_value, "fill_value", owner, 0, 255)
    return red, green, blue


def border(padding_mode: Any, owner: str) -> Border:
    """``padding_mode`` if it is a ``Border``; ``SettingTypeError`` otherwise."""
    if not isinstance(padding_mode, Border):
        raise mistyped(padding_mode, "padding_mode", owner, (Border,))
    return padding_mode


def interpolation(value: Any, owner: str) -> Inter:
    """``value`` if it is an ``Inter``; ``SettingTypeError`` otherwise."""
    if not isinstance(value, Inter):
        raise mistyped(value, "interpolation", owner, (Inter,))
    return value


def for_arrays(mode: Inter, owner: str) -> Inter:
    """``mode``; ``SettingTypeError`` for the one that MindSpore has for PIL images only."""
    if mode is Inter.ANTIALIAS:
        raise SettingTypeError(f"{owner}: Inter.ANTIALIAS is for PIL images")
    return mode


def pillow_filter(mode: Inter) -> Any:
    """Pillow's filter for ``mode``; ``SettingTypeError`` for those that MindSpore has for arrays only."""
    from PIL import Image

    names = {Inter.NEAREST: "NEAREST", Inter.ANTIALIAS: "LANCZOS", Inter.LINEAR: "BILINEAR", Inter.CUBIC: "BICUBIC"}
    if mode not in names:
        raise SettingTypeError(f"Inter.{mode.name} is not there for PIL images")
    return Image.Resampling[names[mode]]


def is_picture(value: Any) -> bool:
    """Whether ``value`` is an image of Pillow's, which is not imported for it."""
    return any(kind.__module__.startswith("PIL.") and kind.__name__ == "Image" for kind in type(value).__mro__)


def given_array(value: Any, owner: str) -> Any:
    """``value`` if it is an array; ``SettingTypeError`` otherwise."""
    if not isinstance(value, np.ndarray):
        raise SettingTypeError(f"{owner}: an image must be a numpy array or a PIL image, got {type(value).__name__}")
    return value


def given_picture(value: Any, owner: str) -> Any:
    """``value`` if it is an image of Pillow's; ``SettingTypeError`` otherwise."""
    if not is_picture(value):
        raise SettingTypeError(f"{owner}: a PIL image is needed (ToPIL, or Decode(True), makes one), got "
                               f"{type(value).__name__}")  # fmt: skip
    return value


def coloured(array: Any, owner: str, channels: Sequence[int] = (3,), *, flat: bool = False) -> Any:
    """``array`` if it is an image of (height, width, ``channels``), or, if ``flat``, of (height, width)."""
    image(array, owner)
    if not ((array.ndim == 3 and array.shape[2] in channels) or (array.ndim == 2 and flat)):
        raise StateError(f"{owner}: an image with {' or '.join(map(str, channels))} channels is needed, "
                         f"got shape {array.shape}")  # fmt: skip
    return array


def image(array: Any, owner: str) -> Any:
    """``array`` if it has the shape of an image, (height, width[, channels]), and holds numbers."""
    if array.ndim not in (2, 3):
        raise StateError(f"{owner}: an image (height, width[, channels]) is needed, got shape {array.shape}")
    if not array.size:
        raise StateError(f"{owner}: the image is empty, its shape is {array.shape}")
    if array.dtype.kind not in "uif" and array.dtype != np.bool_:
        raise StateError(f"{owner}: an image of numbers is needed, got {array.dtype}")
    return array
