"""Transforms of the places of an image's pixels."""

from __future__ import annotations

import math
import random as _random
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
    coloured,
    filling,
    for_arrays,
    image,
    interpolation,
    paddings,
    pillow_filter,
    size_pair,
)

_MODES = {Border.EDGE: "edge", Border.REFLECT: "reflect", Border.SYMMETRIC: "symmetric"}


def padded(array: Any, sides: Sequence[int], fill: Sequence[int], mode: Border, owner: str) -> Any:
    """``array`` with ``sides`` (left, top, right, bottom) around it; ``StateError`` unless of one or three channels."""
    left, top, right, bottom = sides
    coloured(array, owner, (1, 3), flat=True)
    high, wide = array.shape[:2]
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

    several = True

    def __init__(self, size: Any, interpolation: Inter = Inter.LINEAR) -> None:
        self.size = size_pair(size, "Resize") if isinstance(size, (list, tuple)) else size_pair(size, "Resize")[0]
        self.interpolation = _interpolation(interpolation, "Resize")

    def compute(self, array: Any) -> Any:
        mode = for_arrays(self.interpolation, "Resize")
        image(array, "Resize")
        if isinstance(self.size, tuple):
            height, width = self.size
        else:
            high, wide = array.shape[:2]
            height = self.size if high < wide else self.size * high // wide
            width = self.size * wide // high if high < wide else self.size
        return resized(array, height, width, mode)

    def picture(self, image: Any) -> Any:
        return resized_picture(image, self.size, self.interpolation)


def resized_picture(picture: Any, size: Any, mode: Inter) -> Any:
    """A picture in ``size`` (height, width), or with an int as its shorter side."""
    wide, high = picture.size
    if isinstance(size, tuple):
        return picture.resize(size[::-1], pillow_filter(mode))
    if min(wide, high) == size:
        return picture
    made = (size, int(size / (wide / high))) if wide < high else (int(size * (wide / high)), size)
    return picture.resize(made, pillow_filter(mode))


def padded_picture(picture: Any, sides: Sequence[int], fill: Any, mode: Border) -> Any:
    """A picture with ``sides`` (left, top, right, bottom) around it."""
    from PIL import Image, ImageOps

    left, top, right, bottom = sides
    if mode is Border.CONSTANT:
        if picture.mode == "P":
            made = ImageOps.expand(picture, (left, top, right, bottom), fill)
            made.putpalette(picture.getpalette())
            return made
        fill = fill[:1] if picture.mode in ("L", "1") else fill
        return ImageOps.expand(picture, (left, top, right, bottom), fill)
    array = np.asarray(picture)
    made = np.pad(array, ((top, bottom), (left, right), (0, 0))[: array.ndim], _MODES[mode])  # type: ignore[call-overload]
    made = Image.fromarray(made)
    if picture.mode == "P":
        made.putpalette(picture.getpalette())
    return made


def part_of_picture(picture: Any, top: int, left: int, height: int, width: int) -> Any:
    """The part of a picture from (top, left) on."""
    return picture.crop((left, top, left + width, top + height))


def middle_of_picture(picture: Any, size: tuple[int, int]) -> Any:
    """The middle of a picture, of ``size`` (height, width)."""
    (wide, high), (tall, broad) = picture.size, size
    return part_of_picture(picture, round((high - tall) / 2.0), round((wide - broad) / 2.0), tall, broad)


_interpolation = interpolation


class Pad(FixedImage):
    """More around an image."""

    def __init__(self, padding: Any, fill_value: Any = 0, padding_mode: Border = Border.CONSTANT) -> None:
        self.padding = paddings(padding, "Pad")
        self.fill_value = filling(fill_value, "Pad")
        self.padding_mode = border(padding_mode, "Pad")

    def compute(self, array: Any) -> Any:
        return padded(image(array, "Pad"), self.padding, self.fill_value, self.padding_mode, "Pad")

    def picture(self, image: Any) -> Any:
        return padded_picture(image, self.padding, self.fill_value, self.padding_mode)


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

    several = True

    def __init__(self, size: Any) -> None:
        self.size = size_pair(size, "CenterCrop")

    def compute(self, array: Any) -> Any:
        image(array, "CenterCrop")
        (height, width), (high, wide) = self.size, array.shape[:2]
        more_high, more_wide = max(0, height - high), max(0, width - wide)
        if more_high >= 3 * high or more_wide >= 3 * wide:
            raise StateError(f"CenterCrop: {self.size} is four times as large as the image {(high, wide)}, or more")
        sides = (more_wide // 2 + more_wide % 2, more_high // 2 + more_high % 2, more_wide // 2, more_high // 2)
        if any(sides):
            array = padded(array, sides, (0, 0, 0), Border.CONSTANT, "CenterCrop")
        high, wide = array.shape[:2]
        return cropped(array, (high - height) // 2, (wide - width) // 2, height, width)

    def picture(self, image: Any) -> Any:
        return middle_of_picture(image, self.size)


class HorizontalFlip(FixedImage):
    """Left and right exchanged."""

    several = True

    def compute(self, array: Any) -> Any:
        return np.ascontiguousarray(image(array, self.name)[:, ::-1])


class VerticalFlip(FixedImage):
    """Up and down exchanged."""

    several = True

    def compute(self, array: Any) -> Any:
        return np.ascontiguousarray(image(array, self.name)[::-1])


class RandomHorizontalFlip(DrawnImage):
    """Left and right exchanged, with probability ``prob``."""

    _axis = 1
    #: whether it takes several images (..., height, width, channels), too: all are flipped, or none
    _several = True

    def __init__(self, prob: float = 0.5) -> None:
        self.prob = probability(prob, "prob", self.name)

    def draw(self, random: Mersenne32, array: Any) -> Any:
        if array.ndim <= 3 or not self._several:
            image(array, self.name)
        axis = self._axis if array.ndim <= 3 else array.ndim - 3 + self._axis
        return np.ascontiguousarray(np.flip(array, axis)) if random.chance(self.prob) else array

    def picture(self, image: Any) -> Any:
        from PIL import Image

        way = Image.Transpose.FLIP_LEFT_RIGHT if self._axis else Image.Transpose.FLIP_TOP_BOTTOM
        return image.transpose(way) if self.prob > _random.random() else image


class RandomVerticalFlip(RandomHorizontalFlip):
    """Up and down exchanged, with probability ``prob``."""

    _axis = 0
    _several = False


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
        if padding_mode is None:
            raise StateError("RandomCrop: padding_mode must be a Border, got None")
        self.padding_mode = border(padding_mode, "RandomCrop")

    def _around(self, array: Any, sides: Sequence[int]) -> Any:
        return padded(array, sides, self.fill_value, self.padding_mode, "RandomCrop")

    def draw(self, random: Mersenne32, array: Any) -> Any:
        if array.ndim > 3 and array.size:
            made = np.stack([self.draw(random, each) for each in array.reshape(-1, *array.shape[-3:])])
            return made.reshape(*array.shape[:-3], *made.shape[1:])
        left, top, right, bottom = self.padding
        high, wide = image(array, "RandomCrop").shape[:2]
        if max(top, bottom) >= 3 * high or max(left, right) >= 3 * wide:
            raise StateError(f"RandomCrop: padding {self.padding} is three times as large as the image {(high, wide)}")
        array = self._around(array, self.padding) if any(self.padding) else array
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

    def picture(self, image: Any) -> Any:
        tall, broad = self.size
        made = padded_picture(image, self.padding, self.fill_value, self.padding_mode)
        if self.pad_if_needed:
            more = max(0, broad - made.size[0])
            made = padded_picture(made, (more, 0, more, 0), self.fill_value, self.padding_mode) if more else made
            more = max(0, tall - made.size[1])
            made = padded_picture(made, (0, more, 0, more), self.fill_value, self.padding_mode) if more else made
        wide, high = made.size
        if tall > high or broad > wide:
            raise SettingError(f"RandomCrop: {self.size} is larger than the image {(high, wide)}")
        top = left = 0
        if (tall, broad) != (high, wide):
            top, left = _random.randint(0, high - tall), _random.randint(0, wide - broad)
        return part_of_picture(made, top, left, tall, broad)


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
        if interpolation is None:
            raise StateError("RandomResizedCrop: interpolation must be an Inter, got None")
        self.interpolation = _interpolation(interpolation, "RandomResizedCrop")
        self.max_attempts = whole(max_attempts, "max_attempts", "RandomResizedCrop", 1)

    def draw(self, random: Mersenne32, array: Any) -> Any:
        images = array.reshape(-1, *array.shape[-3:]) if array.ndim > 3 and array.size else array[None]
        high, wide = image(images[0], "RandomResizedCrop").shape[:2]
        top, left, height, width = self._box(random, high, wide)
        mode = for_arrays(self.interpolation, self.name)
        made = np.stack([resized(cropped(each, top, left, height, width), *self.size, mode) for each in images])
        return made.reshape(*array.shape[:-3], *made.shape[1:]) if array.ndim > 3 else made[0]

    def picture(self, image: Any) -> Any:
        wide, high = image.size
        top, left, tall, broad = self._drawn_part(high, wide)
        return resized_picture(part_of_picture(image, top, left, tall, broad), self.size, self.interpolation)

    def _drawn_part(self, high: int, wide: int) -> tuple[int, int, int, int]:
        for _ in range(self.max_attempts):
            area = _random.uniform(*self.scale) * (wide * high)
            ratio = math.exp(_random.uniform(math.log(self.ratio[0]), math.log(self.ratio[1])))
            broad = round(math.sqrt(area * ratio))
            tall = round(broad / ratio)
            if 0 < broad <= wide and 0 < tall <= high:
                return _random.randint(0, high - tall), _random.randint(0, wide - broad), tall, broad
        tall, broad = high, wide
        if wide / high < self.ratio[0]:
            tall = round(wide / self.ratio[0])
        elif wide / high > self.ratio[1]:
            broad = round(high * self.ratio[1])
        return round((high - tall) / 2.0), round((wide - broad) / 2.0), tall, broad

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
