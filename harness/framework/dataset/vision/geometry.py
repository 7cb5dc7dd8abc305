"""Transforms of the places of an image's pixels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.errors import SettingError, SettingTypeError, StateError
from harness.framework.dataset.checks import flag, whole
from harness.framework.dataset.random import Mersenne32
from harness.framework.dataset.transforms.compound import probability
from harness.framework.dataset.vision.base import DrawnImage, FixedImage
from harness.framework.dataset.vision.resizing import resized
from harness.framework.dataset.vision.utils import (
    Border,
    Inter,
    border,
    filling,
    image,
    interpolation,
    paddings,
    size_pair,
)

_MODES = {Border.EDGE: "edge", Border.REFLECT: "reflect", Border.SYMMETRIC: "symmetric"}


def padded(array: Any, sides: Sequence[int], fill: Sequence[int], mode: Border, owner: str) -> Any:
    """``array`` with ``sides`` (left, top, right, bottom) around it.

    Raises:
        StateError: a side is three times as large as the image, or more.
    """
    left, top, right, bottom = sides
    high, wide = array.shape[:2]
    if max(top, bottom) >= 3 * high or max(left, right) >= 3 * wide:
        raise StateError(f"{owner}: padding {tuple(sides)} is three times as large as the image {(high, wide)}")
    widths = ((top, bottom), (left, right), (0, 0))[: array.ndim]
    if mode is not Border.CONSTANT:
        return np.pad(array, widths, _MODES[mode])  # type: ignore[call-overload]
    shape = (high + top + bottom, wide + left + right, *array.shape[2:])
    channels = array.shape[2] if array.ndim == 3 else 1
    values = np.array([*fill, 0], array.dtype)[:channels] if channels <= 4 else np.array(fill[:1], array.dtype)
    made = np.empty(shape, array.dtype)
    made[...] = values if array.ndim == 3 else values[0]
    made[top : top + high, left : left + wide] = array
    return made


def cropped(array: Any, top: int, left: int, height: int, width: int) -> Any:
    """The part of ``array`` from (top, left) on."""
    return np.ascontiguousarray(array[top : top + height, left : left + width])


class Resize(FixedImage):
    """Another size: (height, width), or an int for the shorter side."""

    def __init__(self, size: Any, interpolation: Inter = Inter.LINEAR) -> None:
        self.size = size_pair(size, "Resize") if isinstance(size, (list, tuple)) else size_pair(size, "Resize")[0]
        self.interpolation = _interpolation(interpolation, "Resize")

    def compute(self, array: Any) -> Any:
        image(array, "Resize")
        if isinstance(self.size, tuple):
            height, width = self.size
        else:
            high, wide = array.shape[:2]
            height = self.size if high < wide else self.size * high // wide
            width = self.size * wide // high if high < wide else self.size
        return resized(array, height, width, self.interpolation)


_interpolation = interpolation


class Pad(FixedImage):
    """More around an image."""

    def __init__(self, padding: Any, fill_value: Any = 0, padding_mode: Border = Border.CONSTANT) -> None:
        self.padding = paddings(padding, "Pad")
        self.fill_value = filling(fill_value, "Pad")
        self.padding_mode = border(padding_mode, "Pad")

    def compute(self, array: Any) -> Any:
        return padded(image(array, "Pad"), self.padding, self.fill_value, self.padding_mode, "Pad")


class Crop(FixedImage):
    """The part of ``size`` from ``coordinates`` (top, left) on."""

    def __init__(self, coordinates: Any, size: Any) -> None:
        if not isinstance(coordinates, (list, tuple)) or len(coordinates) != 2:
            raise SettingTypeError(f"Crop: coordinates must be (top, left), got {coordinates!r}")
        self.top, self.left = (whole(each, "coordinates", "Crop", 0) for each in coordinates)
        self.size = size_pair(size, "Crop")

    def compute(self, array: Any) -> Any:
        image(array, "Crop")
        if self.top + self.size[0] > array.shape[0] or self.left + self.size[1] > array.shape[1]:
            raise StateError(f"Crop: {self.size} from {(self.top, self.left)} on is not within {array.shape[:2]}")
        return cropped(array, self.top, self.left, *self.size)


class CenterCrop(FixedImage):
    """The middle of an image, with zeros around it where it is smaller."""

    def __init__(self, size: Any) -> None:
        self.size = size_pair(size, "CenterCrop")

    def compute(self, array: Any) -> Any:
        image(array, "CenterCrop")
        (height, width), (high, wide) = self.size, array.shape[:2]
        more_high, more_wide = max(0, height - high), max(0, width - wide)
        sides = (more_wide // 2 + more_wide % 2, more_high // 2 + more_high % 2, more_wide // 2, more_high // 2)
        if any(sides):
            array = padded(array, sides, (0, 0, 0), Border.CONSTANT, "CenterCrop")
        high, wide = array.shape[:2]
        return cropped(array, (high - height) // 2, (wide - width) // 2, height, width)


class HorizontalFlip(FixedImage):
    """Left and right exchanged."""

    def compute(self, array: Any) -> Any:
        return np.ascontiguousarray(image(array, self.name)[:, ::-1])


class VerticalFlip(FixedImage):
    """Up and down exchanged."""

    def compute(self, array: Any) -> Any:
        return np.ascontiguousarray(image(array, self.name)[::-1])


class RandomHorizontalFlip(DrawnImage):
    """Left and right exchanged, with probability ``prob``."""

    _axis = 1

    def __init__(self, prob: float = 0.5) -> None:
        self.prob = probability(prob, "prob", self.name)

    def draw(self, random: Mersenne32, array: Any) -> Any:
        image(array, self.name)
        return np.ascontiguousarray(np.flip(array, self._axis)) if random.chance(self.prob) else array


class RandomVerticalFlip(RandomHorizontalFlip):
    """Up and down exchanged, with probability ``prob``."""

    _axis = 0


class RandomCrop(DrawnImage):
    """A part of ``size``, anywhere; ``padding`` is put around the image first, more of it if ``pad_if_needed``."""

    def __init__(
        self,
        size: Any,
        padding: Any = None,
        pad_if_needed: bool = False,
        fill_value: Any = 0,
        padding_mode: Border = Border.CONSTANT,
    ) -> None:
        self.size = size_pair(size, "RandomCrop")
        self.padding = (0, 0, 0, 0) if padding is None else paddings(padding, "RandomCrop")
        self.pad_if_needed = flag(pad_if_needed, "pad_if_needed", "RandomCrop")
        self.fill_value = filling(fill_value, "RandomCrop")
        self.padding_mode = border(padding_mode, "RandomCrop")

    def _around(self, array: Any, sides: Sequence[int]) -> Any:
        return padded(array, sides, self.fill_value, self.padding_mode, "RandomCrop")

    def draw(self, random: Mersenne32, array: Any) -> Any:
        array = self._around(image(array, "RandomCrop"), self.padding)
        height, width = self.size
        if array.shape[:2] == self.size:
            return array
        if self.pad_if_needed and array.shape[0] < height:
            array = self._around(array, (0, height - array.shape[0], 0, height - array.shape[0]))
        if self.pad_if_needed and array.shape[1] < width:
            array = self._around(array, (width - array.shape[1], 0, width - array.shape[1], 0))
        if array.shape[0] < height or array.shape[1] < width:
            raise StateError(f"RandomCrop: {self.size} is larger than the image {array.shape[:2]}")
        left = random.below(array.shape[1] - width + 1)
        top = random.below(array.shape[0] - height + 1)
        return cropped(array, top, left, height, width)


class RandomResizedCrop(DrawnImage):
    """A part with a drawn share of the area (``scale``) and of width to height (``ratio``), resized to ``size``."""

    def __init__(
        self,
        size: Any,
        scale: Any = (0.08, 1.0),
        ratio: Any = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: Inter = Inter.BILINEAR,
        max_attempts: int = 10,
    ) -> None:
        self.size = size_pair(size, "RandomResizedCrop")
        self.scale = _interval(scale, "scale")
        self.ratio = _interval(ratio, "ratio")
        if self.scale[1] <= 0 or self.ratio[0] <= 0:
            raise SettingError(f"RandomResizedCrop: scale and ratio must be above 0, got {scale}, {ratio}")
        self.interpolation = _interpolation(interpolation, "RandomResizedCrop")
        self.max_attempts = whole(max_attempts, "max_attempts", "RandomResizedCrop", 1)

    def draw(self, random: Mersenne32, array: Any) -> Any:
        high, wide = image(array, "RandomResizedCrop").shape[:2]
        top, left, height, width = self._box(random, high, wide)
        return resized(cropped(array, top, left, height, width), *self.size, self.interpolation)

    def _box(self, random: Mersenne32, high: int, wide: int) -> tuple[int, int, int, int]:
        low, top = (np.float32(math.log(np.float32(each))) for each in self.ratio)
        least, most = (np.float32(each) for each in self.scale)
        for _ in range(self.max_attempts):
            share = float(np.float32(random.real32()) * (most - least) + least)
            aspect = math.exp(float(np.float32(random.real32()) * (top - low) + low))
            width = max(1, _rounded(math.sqrt(high * wide * share * aspect)))
            height = max(1, _rounded(width / aspect))
            if width <= wide and height <= high:
                left, down = random.below(wide - width + 1), random.below(high - height + 1)
                return down, left, height, width
        return self._middle(high, wide)

    def _middle(self, high: int, wide: int) -> tuple[int, int, int, int]:
        width, height = wide, high
        if wide / high < np.float32(self.ratio[0]):
            height = max(1, _rounded(width / float(np.float32(self.ratio[0]))))
        elif wide / high > np.float32(self.ratio[1]):
            width = max(1, _rounded(height * float(np.float32(self.ratio[1]))))
        return _rounded((high - height) / 2), _rounded((wide - width) / 2), height, width


def _rounded(value: float) -> int:
    return math.floor(value + 0.5)


def _interval(value: Any, name: str) -> tuple[float, float]:
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        raise SettingTypeError(f"RandomResizedCrop: {name} must be (low, high), got {value!r}")
    for each in value:
        if isinstance(each, bool) or not isinstance(each, (int, float)):
            raise SettingTypeError(f"RandomResizedCrop: {name} must be numbers, got {each!r}")
    if not 0 <= value[0] <= value[1]:
        raise SettingError(f"RandomResizedCrop: {name} must be (low, high) of at least 0, got {value!r}")
    return float(value[0]), float(value[1])
