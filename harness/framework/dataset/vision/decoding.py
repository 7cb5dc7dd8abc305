"""Transforms from files of pictures, and of colours."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.errors import SettingError, StateError
from harness.framework.dataset.checks import flag
from harness.framework.dataset.pictures import Array, decoded, pillow
from harness.framework.dataset.random import Mersenne32
from harness.framework.dataset.vision.base import DrawnImage, FixedImage
from harness.framework.dataset.vision.geometry import RandomResizedCrop
from harness.framework.dataset.vision.utils import image


def _bytes(value: Any, owner: str) -> bytes:
    array = np.asarray(value)
    if array.dtype.kind == "S" and array.size == 1:
        return bytes(array.reshape(-1)[0])
    if array.dtype != np.uint8 or array.ndim != 1:
        raise StateError(f"{owner}: the bytes of a picture's file are needed, uint8 of one dimension, got "
                         f"{array.dtype} {array.shape}")  # fmt: skip
    return array.tobytes()


class Decode(FixedImage):
    """The picture in the bytes of a file: uint8 (height, width, 3), or a PIL picture with ``to_pil``."""

    def __init__(self, to_pil: bool = False) -> None:
        self.to_pil = flag(to_pil, "to_pil", "Decode")

    def compute(self, array: Any) -> Any:
        picture = decoded(_bytes(array, "Decode"), "Decode: what is given")
        return pillow().fromarray(picture) if self.to_pil else picture


class ToPIL(FixedImage):
    """An array (height, width[, channels]) as a PIL picture."""

    def compute(self, array: Any) -> Any:
        try:
            return pillow().fromarray(np.asarray(array))
        except (TypeError, ValueError) as error:
            raise StateError(f"ToPIL: {np.shape(array)} of {np.asarray(array).dtype} is no picture: {error}") from None


class RandomCropDecodeResize(RandomResizedCrop):
    """``Decode``, then ``RandomResizedCrop``."""

    def draw(self, random: Mersenne32, array: Any) -> Any:
        return super().draw(random, decoded(_bytes(array, self.name), self.name))


class RandomColorAdjust(DrawnImage):
    """Brightness, contrast, saturation and hue changed by drawn factors.

    Args:
        brightness, contrast, saturation: a factor, or (low, high): one in [max(0, 1 - f), 1 + f], or in [low, high].
        hue: likewise in [-0.5, 0.5], of a whole turn.

    The numbers drawn are this project's (docs/differences.md).
    """

    def __init__(self, brightness: Any = (1, 1), contrast: Any = (1, 1), saturation: Any = (1, 1),
                 hue: Any = (0, 0)) -> None:  # fmt: skip
        self.brightness = _around(brightness, "brightness")
        self.contrast = _around(contrast, "contrast")
        self.saturation = _around(saturation, "saturation")
        self.hue = (-hue, hue) if isinstance(hue, (int, float)) and not isinstance(hue, bool) else tuple(hue)
        if len(self.hue) != 2 or not -0.5 <= self.hue[0] <= self.hue[1] <= 0.5:
            raise SettingError(f"RandomColorAdjust: hue must lie in [-0.5, 0.5], got {hue!r}")

    def draw(self, random: Mersenne32, array: Any) -> Any:
        picture = image(array, self.name)
        if picture.ndim != 3 or picture.shape[2] != 3:
            raise StateError(f"RandomColorAdjust: a picture of three channels is needed, got shape {picture.shape}")
        values = picture.astype(np.float64)
        bounds = (self.brightness, self.contrast, self.saturation, self.hue)
        bright, contrast, saturation, hue = (low + (high - low) * random.real() for low, high in bounds)
        values = values * bright
        values = values * contrast + (1 - contrast) * round(float((values @ _GREY).mean()))
        values = values * saturation + (1 - saturation) * (values @ _GREY)[..., None]
        values = _turned(np.clip(values, 0, 255), hue) if hue else values
        return np.clip(np.rint(values), 0, 255).astype(picture.dtype)


#: how much of red, green and blue is in grey
_GREY = np.array([0.299, 0.587, 0.114])


def _around(given: Any, name: str) -> tuple[float, float]:
    pair = (max(0.0, 1 - given), 1 + given) if isinstance(given, (int, float)) else tuple(given)
    if isinstance(given, bool) or len(pair) != 2 or not 0 <= pair[0] <= pair[1]:
        raise SettingError(f"RandomColorAdjust: {name} must be a number or (low, high) of at least 0, got {given!r}")
    return float(pair[0]), float(pair[1])


def _turned(values: Array, hue: float) -> Array:
    """Red, green and blue with their hue turned by a share of a whole turn."""
    high, low = values.max(-1), values.min(-1)
    span = np.where(high == low, 1, high - low)
    red, green, blue = np.moveaxis(values, -1, 0)
    sixth = np.select([high == red, high == green], [(green - blue) / span % 6, (blue - red) / span + 2],
                      (red - green) / span + 4)  # fmt: skip
    at = (np.where(high == low, 0, sixth) + 6 * hue) % 6
    parts = [(n + at) % 6 for n in (5, 3, 1)]
    chroma = high - low
    turned = [high - chroma * np.clip(np.minimum(k, 4 - k), 0, 1) for k in parts]
    return np.stack(turned, -1)
