"""Transforms of an image's colours that draw numbers.

For arrays the numbers are those that MindSpore draws from the same seed; for pictures of Pillow's they come from
Python's generator (``RandomLighting``: from numpy's), as in MindSpore.
"""

from __future__ import annotations

import random as _random
from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from harness.errors import SettingAttributeError, SettingError, SettingTypeError, StateError
from harness.framework.dataset.random import Mersenne32, Normal32, shuffle
from harness.framework.dataset.transforms.compound import probability
from harness.framework.dataset.vision import arithmetic
from harness.framework.dataset.vision import colours as c
from harness.framework.dataset.vision.arguments import ascending, integer, real
from harness.framework.dataset.vision.arithmetic import Array, mixed
from harness.framework.dataset.vision.base import DrawnImage, PictureImage
from harness.framework.dataset.vision.utils import coloured, given_picture, is_picture
from harness.framework.dataset.vision.values import inverted

_F32 = np.float32


class _Sometimes(DrawnImage):
    """A change that is made with probability ``prob``."""

    def __init__(self, prob: float = 0.5) -> None:
        self.prob = probability(prob, "prob", self.name)

    @abstractmethod
    def change(self, array: Any) -> Any:
        """The changed array."""

    def draw(self, random: Mersenne32, array: Any) -> Any:
        changed = self.change(array)  # also where it is not wanted: a wrong image is an error each time
        return changed if random.chance(self.prob) else array


class RandomEqualize(_Sometimes):
    """``Equalize``, with probability ``prob``."""

    def change(self, array: Any) -> Any:
        return c.equalized(array, self.name)


class RandomInvert(_Sometimes):
    """``Invert``, with probability ``prob``."""

    def change(self, array: Any) -> Any:
        return inverted(array, self.name)


class RandomAdjustSharpness(_Sometimes):
    """``AdjustSharpness`` by ``degree``, with probability ``prob``."""

    def __init__(self, degree: float, prob: float = 0.5) -> None:
        self.degree = real(degree, "degree", self.name, 0)
        super().__init__(prob)

    def change(self, array: Any) -> Any:
        return c.blended(array, self.degree, self.name)


class RandomAutoContrast(_Sometimes):
    """``AutoContrast``, with probability ``prob``."""

    def __init__(self, cutoff: float = 0.0, ignore: Any = None, prob: float = 0.5) -> None:
        self.cutoff, self.ignore = c.cutting(cutoff, ignore, self.name)
        super().__init__(prob)

    def change(self, array: Any) -> Any:
        return c.stretched(array, self.cutoff, self.ignore, self.name)

    def draw(self, random: Mersenne32, array: Any) -> Any:
        coloured(array, self.name, flat=True)  # its dtype is looked at only where it is changed
        return self.change(array) if random.chance(self.prob) else array


class RandomPosterize(DrawnImage):
    """``Posterize`` to a drawn number of bits, from ``bits`` (low, high)."""

    def __init__(self, bits: Any = (8, 8)) -> None:
        given = (bits, bits) if isinstance(bits, int) else bits
        if not isinstance(given, (list, tuple)) or len(given) != 2:
            raise SettingTypeError(f"RandomPosterize: bits must be an int or (low, high), got {bits!r}")
        low, high = (integer(each, "bits", self.name, 0, 255) for each in given)
        if not 1 <= low <= high <= 8:
            raise SettingError(f"RandomPosterize: bits must be (low, high) in [1, 8], got {bits!r}")
        self.bits = (low, high)

    def draw(self, random: Mersenne32, array: Any) -> Any:
        low, high = self.bits
        return c.posterized(array, low if low == high else low + random.below(high - low + 1), self.name)


class RandomSolarize(DrawnImage):
    """``Solarize`` between two drawn thresholds, both from ``threshold`` (low, high)."""

    def __init__(self, threshold: Any = (0, 255)) -> None:
        if not isinstance(threshold, tuple):
            raise SettingTypeError(f"RandomSolarize: threshold must be a tuple, got {threshold!r}")
        for each in threshold:
            if isinstance(each, bool) or not isinstance(each, int):
                raise SettingTypeError(f"RandomSolarize: threshold must be ints, got {each!r}")
        if len(threshold) != 2 or not 0 <= threshold[0] <= threshold[1] <= 255:
            raise SettingError(f"RandomSolarize: threshold must be (low, high) in [0, 255], got {threshold!r}")
        self.threshold = threshold

    def draw(self, random: Mersenne32, array: Any) -> Any:
        low, high = self.threshold
        least, most = sorted(low + random.below(high - low + 1) for _ in range(2))
        return c.solarized(array, least, most, self.name)


class _Degrees(DrawnImage):
    """A change by a number drawn from ``degrees`` (low, high)."""

    def __init__(self, degrees: Any = (0.1, 1.9)) -> None:
        if not isinstance(degrees, (list, tuple)):
            raise SettingTypeError(f"{self.name}: degrees must be (low, high), got {degrees!r}")
        for each in degrees:
            real(each, "degrees", self.name, float("-inf"), float("inf"))
        if len(degrees) != 2:
            raise SettingError(f"{self.name}: degrees must be (low, high), got {degrees!r}")
        self.degrees = ascending(degrees, "degrees", self.name)

    def _factor(self) -> float:
        low, high = self.degrees
        return (high - low) * _random.random() + low


class RandomSharpness(_Degrees):
    """``AdjustSharpness`` by a number drawn from ``degrees`` (low, high)."""

    def draw(self, random: Mersenne32, array: Any) -> Any:
        low, high = (_F32(each) for each in self.degrees)
        share = _F32(random.between(-1, 1))
        return c.blended(array, float((high + low) / _F32(2) + share * ((high - low) / _F32(2))), self.name)

    def picture(self, image: Any) -> Any:
        return c.enhanced(image, "Sharpness", self._factor())


class RandomColor(_Degrees):
    """``AdjustSaturation`` by a number drawn from ``degrees`` (low, high)."""

    def draw(self, random: Mersenne32, array: Any) -> Any:
        coloured(array, self.name)
        share = _F32(random.between(*self.degrees))
        if abs(float(share) - 1.0) < 0.00195:
            return array
        if array.dtype not in (np.uint8, np.uint16, np.float32):
            raise StateError(f"RandomColor: an image of {array.dtype} has no grey")
        grey = np.repeat(arithmetic.grey(array)[..., None], 3, 2)
        return grey if abs(share) < 0.00195 else mixed(array, float(share), grey, float(_F32(1) - share))

    def picture(self, image: Any) -> Any:
        return c.enhanced(image, "Color", self._factor())


class RandomLighting(DrawnImage):
    """Noise along the three main directions of natural images' colours; ``alpha`` is its standard deviation."""

    def __init__(self, alpha: float = 0.05) -> None:
        self.alpha = real(alpha, "alpha", self.name, 0)

    def build(self, seed: int, worker: int = 0) -> Any:
        self._normal: dict[int, Normal32] = {}
        return super().build(seed, worker)

    def draw(self, random: Mersenne32, array: Any) -> Any:
        coloured(array, self.name)
        if array.dtype != np.uint8:
            raise StateError(f"RandomLighting: an image of uint8 is needed, got {array.dtype}")
        normal = self._normal.setdefault(id(random), Normal32(random))
        drawn = [normal() * _F32(self.alpha) for _ in range(3)]
        moves = [_F32(row[0]) * drawn[0] + _F32(row[1]) * drawn[1] + _F32(row[2]) * drawn[2] for row in _LIGHT]
        return arithmetic.saturated(array.astype(_F32) + np.array(moves, _F32), np.uint8)

    def picture(self, image: Any) -> Any:
        from PIL import Image

        array = np.asarray(image if image.mode == "RGB" else image.convert("RGB")).astype(np.float64)
        drawn = [np.random.normal(loc=0.0, scale=self.alpha) for _ in range(3)]
        moves = [row[0] * drawn[0] + row[1] * drawn[1] + row[2] * drawn[2] for row in _LIGHT]
        return Image.fromarray(np.uint8(np.minimum(np.maximum(array + np.array(moves), 0), 255)))


#: the directions of red, green and blue, times how far values spread along them
_LIGHT = tuple((55.46 * one, 4.794 * two, 1.148 * three) for one, two, three in (
    (-0.5675, 0.7192, 0.4009), (-0.5808, -0.0045, -0.8140), (-0.5836, -0.6948, 0.4203)))  # fmt: skip


class RandomColorAdjust(DrawnImage):
    """Brightness, contrast, saturation and hue changed by drawn factors, in a drawn order.

    Args:
        brightness, contrast, saturation: a factor, or (low, high): one in [max(0, 1 - f), 1 + f], or in [low, high].
        hue: likewise in [-0.5, 0.5], of a whole turn.
    """

    def __init__(self, brightness: Any = (1, 1), contrast: Any = (1, 1), saturation: Any = (1, 1),
                 hue: Any = (0, 0)) -> None:  # fmt: skip
        self.brightness = self._around(brightness, "brightness")
        self.contrast = self._around(contrast, "contrast")
        self.saturation = self._around(saturation, "saturation")
        self.hue = self._around(hue, "hue", 0, 0.5)

    def _around(self, given: Any, name: str, middle: int = 1, most: float = 2**24) -> tuple[float, float]:
        least = -most if middle == 0 else 0
        if isinstance(given, (list, tuple)):
            if len(given) != 2:
                raise SettingTypeError(f"RandomColorAdjust: {name} must be a number or (low, high), got {given!r}")
            return ascending(given, name, self.name, least, most)
        value = real(given, name, self.name, 0, flags=True)
        low, high = middle - value, middle + value
        return ascending((max(0, low) if middle else low, high), name, self.name, least, most)

    def draw(self, random: Mersenne32, array: Any) -> Any:
        steps: list[tuple[Callable[[Any, float, str], Array], tuple[float, float], float]] = [
            (c.brightened, self.brightness, 1), (c.contrasted, self.contrast, 1),
            (c.saturated, self.saturation, 1), (c.turned, self.hue, 0),
        ]  # fmt: skip
        coloured(array, self.name)
        shuffle(steps, random)
        for change, (low, high), none in steps:
            if not low == high == none:
                array = change(array, random.between(low, high), self.name)
        return array

    def picture(self, image: Any) -> Any:
        bounds = (self.brightness, self.contrast, self.saturation, self.hue)
        bright, contrast, saturation, hue = (_random.uniform(*each) for each in bounds)
        steps: list[Callable[[Any], Any]] = [
            lambda given: c.enhanced(given, "Brightness", bright),
            lambda given: c.enhanced(given, "Contrast", contrast),
            lambda given: c.enhanced(given, "Color", saturation),
            lambda given: c.hue_of_picture(given, hue),
        ]  # fmt: skip
        _random.shuffle(steps)
        for step in steps:
            image = step(image)
        return image


def greyed(picture: Any, channels: int) -> Any:
    """A picture in grey, of one channel or of three that are the same."""
    grey = picture.convert("L")
    if channels == 1:
        return grey
    from PIL import Image

    return Image.merge("RGB", (grey, grey, grey))


class Grayscale(PictureImage):
    """A picture in grey, of one channel or of three that are the same."""

    def __init__(self, num_output_channels: int = 1) -> None:
        if isinstance(num_output_channels, bool) or not isinstance(num_output_channels, int):
            raise SettingTypeError(f"Grayscale: num_output_channels must be an int, got {num_output_channels!r}")
        if num_output_channels not in (1, 3):
            raise SettingError(f"Grayscale: num_output_channels must be 1 or 3, got {num_output_channels}")
        self.num_output_channels = num_output_channels

    def compute(self, array: Any) -> Any:
        return greyed(given_picture(array, self.name), self.num_output_channels)


class RandomGrayscale(PictureImage):
    """``Grayscale`` with as many channels as there were, with probability ``prob``."""

    def __init__(self, prob: float = 0.1) -> None:
        self.prob = probability(prob, "prob", self.name)

    def compute(self, array: Any) -> Any:
        if not is_picture(array):
            raise SettingAttributeError(f"RandomGrayscale: a PIL image is needed, got {type(array).__name__}")
        return greyed(array, 1 if array.mode == "L" else 3) if self.prob > _random.random() else array
