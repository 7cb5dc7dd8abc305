"""Transforms that take parts out of an image, or put something in their place."""

from __future__ import annotations

import math
import random as _random
from typing import Any

import numpy as np

from harness.errors import SettingError, SettingTypeError, StateError
from harness.framework.dataset.checks import flag, whole
from harness.framework.dataset.random import Mersenne32
from harness.framework.dataset.transforms.base import RowFunction
from harness.framework.dataset.transforms.compound import probability
from harness.framework.dataset.vision.arguments import LARGEST_REAL, ascending, integer, real
from harness.framework.dataset.vision.arithmetic import saturated
from harness.framework.dataset.vision.base import DrawnImage, FixedImage, PictureImage
from harness.framework.dataset.vision.geometry import cropped, middle_of_picture, padded
from harness.framework.dataset.vision.resizing import resized
from harness.framework.dataset.vision.utils import (
    Border,
    Inter,
    SliceMode,
    border,
    coloured,
    filling,
    given_picture,
    image,
    interpolation,
    size_pair,
)

_interpolation = interpolation


class ResizedCrop(FixedImage):
    """The part of (``height``, ``width``) from (``top``, ``left``) on, resized to ``size``."""

    def __init__(self, top: int, left: int, height: int, width: int, size: Any,
                 interpolation: Inter = Inter.BILINEAR) -> None:  # fmt: skip
        self.top, self.left = whole(top, "top", self.name, 0), whole(left, "left", self.name, 0)
        self.height, self.width = whole(height, "height", self.name, 1), whole(width, "width", self.name, 1)
        self.interpolation = _interpolation(interpolation, self.name)
        self.size = size_pair(size, self.name)

    def compute(self, array: Any) -> Any:
        high, wide = image(array, self.name).shape[:2]
        if self.interpolation is Inter.ANTIALIAS:
            raise StateError(f"{self.name}: Inter.ANTIALIAS is for PIL images")
        if self.top + self.height > high or self.left + self.width > wide:
            raise StateError(f"ResizedCrop: {(self.height, self.width)} from {(self.top, self.left)} on is not within "
                             f"{(high, wide)}")  # fmt: skip
        part = cropped(array, self.top, self.left, self.height, self.width)
        return resized(part, *self.size, self.interpolation)


class RandomResize(DrawnImage):
    """``Resize`` with a drawn interpolation."""

    def __init__(self, size: Any) -> None:
        from harness.framework.dataset.vision.geometry import Resize

        self.size = size
        self._each = [Resize(size, mode) for mode in (Inter.LINEAR, Inter.NEAREST, Inter.CUBIC, Inter.AREA)]

    def draw(self, random: Mersenne32, array: Any) -> Any:
        return self._each[random.below(4)]._one(array)


class PadToSize(FixedImage):
    """An image within one of ``size``, from ``offset`` (top, left) on, or in the middle."""

    def __init__(
        self, size: Any, offset: Any = None, fill_value: Any = 0, padding_mode: Border = Border.CONSTANT
    ) -> None:
        self.size = self._pair(size, "size", 1)
        self.offset = None if offset is None or (isinstance(offset, (list, tuple)) and not offset) else self._pair(
            offset, "offset", 0)  # fmt: skip
        self.fill_value = filling(fill_value, self.name)
        self.padding_mode = border(padding_mode, self.name)

    def _pair(self, value: Any, name: str, low: int) -> tuple[int, int]:
        given = value if isinstance(value, (list, tuple)) else (value, value)
        if len(given) != 2:
            raise SettingError(f"PadToSize: {name} must be an int or two, got {value!r}")
        first, second = (whole(each, name, self.name, low) for each in given)
        return first, second

    def compute(self, array: Any) -> Any:
        more = [target - own for target, own in zip(self.size, image(array, self.name).shape[:2], strict=True)]
        top, left = self.offset or (max(0, more[0]) // 2, max(0, more[1]) // 2)
        if top > more[0] or left > more[1]:
            raise StateError(f"PadToSize: {array.shape[:2]} at {(top, left)} does not fit into {self.size}")
        sides = (left, top, more[1] - left, more[0] - top)
        return padded(array, sides, self.fill_value, self.padding_mode, self.name)


class Erase(FixedImage):
    """The part of (``height``, ``width``) from (``top``, ``left``) on filled with ``value``."""

    def __init__(self, top: int, left: int, height: int, width: int, value: Any = 0.0, inplace: bool = False) -> None:
        self.top, self.left = whole(top, "top", self.name, 0), whole(left, "left", self.name, 0)
        self.height, self.width = whole(height, "height", self.name, 1), whole(width, "width", self.name, 1)
        self.inplace = flag(inplace, "inplace", self.name)
        given = (value,) * 3 if isinstance(value, (int, float)) else value
        if not isinstance(given, tuple) or len(given) != 3:
            raise SettingTypeError(f"Erase: value must be a number or a tuple of three, got {value!r}")
        self.value = [np.float32(real(each, "value", self.name, 0, 255)) for each in given]

    def compute(self, array: Any) -> Any:
        coloured(array, self.name)
        high, wide = array.shape[:2]
        if self.height > high or self.width > wide or self.top > high or self.left > wide:
            raise StateError(f"Erase: {(self.height, self.width)} from {(self.top, self.left)} on does not fit into "
                             f"{(high, wide)}")  # fmt: skip
        made = array.copy()
        made[self.top : self.top + self.height, self.left : self.left + self.width] = saturated(
            np.array(self.value), array.dtype
        )
        return made


class CutOut(DrawnImage):
    """``num_patches`` squares of ``length``, anywhere, filled with zeros; some may lie partly outside."""

    def __init__(self, length: int, num_patches: int = 1, is_hwc: bool = True) -> None:
        self.length = integer(length, "length", self.name, 1, LARGEST_REAL)
        self.num_patches = integer(num_patches, "num_patches", self.name, 1, LARGEST_REAL)
        self.is_hwc = flag(is_hwc, "is_hwc", self.name)

    def draw(self, random: Mersenne32, array: Any) -> Any:
        if array.ndim != 3:
            raise StateError(f"CutOut: an image (height, width, channels) is needed, got shape {array.shape}")
        made = image(array, self.name).copy()
        view = made if self.is_hwc else made.transpose(1, 2, 0)
        high, wide = view.shape[:2]
        if self.length > high or self.length > wide:
            raise StateError(f"CutOut: a square of {self.length} does not fit into {(high, wide)}")
        for _ in range(self.num_patches):
            top = random.below(high + self.length + 1) - self.length
            left = random.below(wide + self.length + 1) - self.length
            view[max(0, top) : max(0, top + self.length), max(0, left) : max(0, left + self.length)] = 0
        return made


class SlicePatches(FixedImage):
    """``num_height`` times ``num_width`` parts, row by row; what is left is filled up (PAD) or dropped."""

    def __init__(self, num_height: int = 1, num_width: int = 1, slice_mode: SliceMode = SliceMode.PAD,
                 fill_value: int = 0) -> None:  # fmt: skip
        self.num_height = whole(num_height, "num_height", self.name, 1)
        self.num_width = whole(num_width, "num_width", self.name, 1)
        if slice_mode is None:
            raise StateError("SlicePatches: slice_mode must be a SliceMode, got None")
        if not isinstance(slice_mode, SliceMode):
            raise SettingTypeError(f"SlicePatches: slice_mode must be a SliceMode, got {slice_mode!r}")
        self.slice_mode = slice_mode
        self.fill_value = integer(fill_value, "fill_value", self.name, 0, 255)

    def build(self, seed: int, worker: int = 0) -> RowFunction:
        return lambda *arrays: self.compute(np.asarray(arrays[0]))

    def compute(self, array: Any) -> Any:
        if self.num_height == self.num_width == 1 and array.ndim > 1 and array.size:
            return array
        high, wide = image(array, self.name).shape[:2]
        if self.num_height > high or self.num_width > wide:
            raise StateError(f"SlicePatches: {(self.num_height, self.num_width)} parts of {(high, wide)}")
        pad = self.slice_mode is SliceMode.PAD
        tall = -(-high // self.num_height) if pad else high // self.num_height
        broad = -(-wide // self.num_width) if pad else wide // self.num_width
        if pad:
            sides = (0, 0, broad * self.num_width - wide, tall * self.num_height - high)
            made = np.full((high + sides[3], wide + sides[2], *array.shape[2:]), self.fill_value, array.dtype)
            made[:high, :wide] = array
            array = made
        return tuple(cropped(array, down * tall, across * broad, tall, broad)
                     for down in range(self.num_height) for across in range(self.num_width))  # fmt: skip


class FiveCrop(PictureImage):
    """The four corners and the middle, of ``size``, of a picture."""

    def __init__(self, size: Any) -> None:
        self.size = size_pair(size, self.name)

    def compute(self, array: Any) -> Any:
        return _five(given_picture(array, self.name), self.size, self.name)


def _five(picture: Any, size: tuple[int, int], owner: str) -> tuple[Any, ...]:
    (wide, high), (tall, broad) = picture.size, size
    if tall > high or broad > wide:
        raise SettingError(f"{owner}: {size} is larger than the image {(high, wide)}")
    corners = [(left, top) for top in (0, high - tall) for left in (0, wide - broad)]
    made = [picture.crop((left, top, left + broad, top + tall)) for left, top in corners]
    return (*made, middle_of_picture(picture, size))


class TenCrop(PictureImage):
    """``FiveCrop`` of a picture and of the same one flipped, left and right or, if asked, up and down."""

    def __init__(self, size: Any, use_vertical_flip: bool = False) -> None:
        self.size = size_pair(size, self.name)
        self.use_vertical_flip = (
            False if use_vertical_flip is None else flag(use_vertical_flip, "use_vertical_flip", self.name)
        )

    def compute(self, array: Any) -> Any:
        given_picture(array, self.name)
        from PIL import Image

        way = Image.Transpose.FLIP_TOP_BOTTOM if self.use_vertical_flip else Image.Transpose.FLIP_LEFT_RIGHT
        return _five(array, self.size, self.name) + _five(array.transpose(way), self.size, self.name)


class RandomErasing(PictureImage):
    """With probability ``prob`` a part of an array (channels, height, width) filled with ``value``.

    Args:
        scale, ratio: (low, high) of the part's share of the area, and of its width to its height.
        value: a number, one of each channel, or ``"random"``: normal noise.
    """

    def __init__(self, prob: float = 0.5, scale: Any = (0.02, 0.33), ratio: Any = (0.3, 3.3), value: Any = 0,
                 inplace: bool = False, max_attempts: int = 10) -> None:  # fmt: skip
        self.prob = probability(prob, "prob", self.name)
        self.scale, self.ratio = ascending(scale, "scale", self.name), ascending(ratio, "ratio", self.name)
        if self.scale[1] <= 0 or self.ratio[0] <= 0:
            raise SettingError(f"RandomErasing: scale and ratio must be above 0, got {scale!r} and {ratio!r}")
        self.value = self._value(value)
        self.inplace = flag(inplace, "inplace", self.name)
        self.max_attempts = integer(max_attempts, "max_attempts", self.name, 1, LARGEST_REAL)

    def _value(self, value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, (int, list, tuple, str)):
            raise SettingTypeError(f"RandomErasing: value must be an int, three of them, or 'random', got {value!r}")
        if isinstance(value, str):
            if value != "random":
                raise SettingError(f"RandomErasing: value must be an int, three of them, or 'random', got {value!r}")
            return value
        if isinstance(value, int):
            return integer(value, "value", self.name, 0, 255)
        if len(value) != 3:
            raise SettingError(f"RandomErasing: value must be an int, three of them, or 'random', got {value!r}")
        return [integer(each, "value", self.name, 0, 255) for each in value]

    def compute(self, array: Any) -> Any:
        if self.prob <= _random.random():
            return array
        if not isinstance(array, np.ndarray):
            raise SettingTypeError(f"RandomErasing: an array is needed, got {type(array).__name__}")
        if array.ndim != 3:
            raise SettingError(f"RandomErasing: an array (channels, height, width) is needed, got {array.shape}")
        top, left, tall, broad, value = self._part(array)
        made = array if self.inplace else array.copy()
        made[:, top : top + tall, left : left + broad] = value
        return made

    def _part(self, array: Any) -> tuple[int, int, int, int, Any]:
        channels, high, wide = array.shape
        for _ in range(self.max_attempts):
            area = _random.uniform(*self.scale) * high * wide
            ratio = _random.uniform(*self.ratio)
            broad = round(math.sqrt(area * ratio))
            tall = round(broad / ratio)
            if tall < high and broad < wide:
                top, left = _random.randint(0, high - tall), _random.randint(0, wide - broad)
                if self.value == "random":
                    return top, left, tall, broad, np.random.normal(0.0, 1.0, (channels, tall, broad))
                value = self.value if isinstance(self.value, int) else np.array(self.value, np.float64)[:, None, None]
                return top, left, tall, broad, value
        return 0, 0, high, wide, array
