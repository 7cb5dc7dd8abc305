"""``mindspore.dataset.vision.utils``: names of interpolations and borders, and checks that transforms share."""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import Any

import numpy as np

from harness.errors import SettingError, SettingTypeError, StateError
from harness.framework.dataset.checks import whole

__all__ = ["Border", "Inter"]

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


def size_pair(size: Any, owner: str) -> tuple[int, int]:
    """(height, width) of an int or two; ``SettingTypeError`` / ``SettingError`` otherwise."""
    given = (size, size) if not isinstance(size, (list, tuple)) else tuple(size)
    if len(given) != 2:
        raise SettingTypeError(f"{owner}: size must be an int or (height, width), got {size!r}")
    high, wide = (whole(each, "size", owner, 1) for each in given)
    if max(high, wide) > LARGEST_SIZE:
        raise SettingError(f"{owner}: size must be at most {LARGEST_SIZE}, got {size!r}")
    return high, wide


def paddings(padding: Any, owner: str) -> tuple[int, int, int, int]:
    """(left, top, right, bottom) of an int, (left and right, top and bottom), or all four."""
    given = (padding,) * 4 if not isinstance(padding, (list, tuple)) else tuple(padding)
    if len(given) not in (2, 4):
        raise SettingError(f"{owner}: padding must be an int, two or four, got {padding!r}")
    left, top, right, bottom = (whole(each, "padding", owner, 0) for each in (given * 2)[:4])
    return left, top, right, bottom


def filling(fill_value: Any, owner: str) -> tuple[int, int, int]:
    """Values of three channels of an int or three in [0, 255]."""
    given = fill_value if isinstance(fill_value, tuple) else (fill_value,) * 3
    if len(given) != 3:
        raise SettingTypeError(f"{owner}: fill_value must be an int or a tuple of three, got {fill_value!r}")
    red, green, blue = (whole(each, "fill_value", owner, 0) for each in given)
    if max(red, green, blue) > 255:
        raise SettingError(f"{owner}: fill_value must be in [0, 255], got {fill_value!r}")
    return red, green, blue


def border(padding_mode: Any, owner: str) -> Border:
    """``padding_mode`` if it is a ``Border``; ``SettingTypeError`` otherwise."""
    if not isinstance(padding_mode, Border):
        raise SettingTypeError(f"{owner}: padding_mode must be a Border, got {padding_mode!r}")
    return padding_mode


def interpolation(value: Any, owner: str) -> Inter:
    """``value`` if it is an ``Inter`` that arrays can be resized by.

    Raises:
        SettingTypeError: it is no ``Inter``, or ``Inter.ANTIALIAS``, which MindSpore has for PIL images only.
    """
    if not isinstance(value, Inter):
        raise SettingTypeError(f"{owner}: interpolation must be an Inter, got {value!r}")
    if value is Inter.ANTIALIAS:
        raise SettingTypeError(f"{owner}: Inter.ANTIALIAS is for PIL images, which the harness does not have")
    return value


def given_array(value: Any, owner: str) -> Any:
    """``value`` if it is an array; ``SettingTypeError`` otherwise."""
    if not isinstance(value, np.ndarray):
        raise SettingTypeError(f"{owner}: an image must be a numpy array, got {type(value).__name__}")
    return value


def image(array: Any, owner: str) -> Any:
    """``array`` if it has the shape of an image, (height, width[, channels]), and holds numbers."""
    if array.ndim not in (2, 3):
        raise StateError(f"{owner}: an image (height, width[, channels]) is needed, got shape {array.shape}")
    if array.dtype.kind not in "uif" and array.dtype != np.bool_:
        raise StateError(f"{owner}: an image of numbers is needed, got {array.dtype}")
    return array
