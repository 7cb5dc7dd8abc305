"""Transforms of an image's values and axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.errors import SettingError, SettingTypeError, StateError
from harness.framework.dataset.transforms.values import TypeCast, numpy_type
from harness.framework.dataset.vision.base import FixedImage
from harness.framework.dataset.vision.utils import image


def _number(value: Any, name: str, owner: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise SettingTypeError(f"{owner}: {name} must be a number, got {type(value).__name__} {value!r}")
    return float(value)


class Rescale(FixedImage):
    """``x * rescale + shift`` as float32."""

    def __init__(self, rescale: float, shift: float) -> None:
        self.rescale = _number(rescale, "rescale", "Rescale")
        if self.rescale < 0:
            raise StateError(f"Rescale: rescale must be at least 0, got {rescale}")
        self.shift = _number(shift, "shift", "Rescale")

    def compute(self, array: Any) -> Any:
        if array.dtype.kind not in "uifb":
            raise StateError(f"Rescale: an array of numbers is needed, got {array.dtype}")
        return affine(array, self.rescale, self.shift)


def affine(array: Any, scale: float, shift: float) -> Any:
    """``array * scale + shift`` rounded once to float32, with float32 factors."""
    exact = array.astype(np.float64) * np.float64(np.float32(scale)) + np.float64(np.float32(shift))
    return exact.astype(np.float32)


class Normalize(FixedImage):
    """``(x - mean) / std`` of each channel as float32."""

    def __init__(self, mean: Sequence[float], std: Sequence[float], is_hwc: bool = True) -> None:
        for name, given in (("mean", mean), ("std", std)):
            if not isinstance(given, (list, tuple)):
                raise SettingTypeError(f"{self.name}: {name} must be a list, got {given!r}")
            low, kind = (0, "[0, 255]") if name == "mean" else (np.nextafter(0, 1), "(0, 255]")
            for value in given:
                if not low <= _number(value, name, self.name) <= 255:
                    raise SettingError(f"{self.name}: {name} must be in {kind}, got {value}")
        if len(mean) != len(std):
            raise SettingError(f"{self.name}: mean and std must be of one length, got {len(mean)} and {len(std)}")
        if not isinstance(is_hwc, bool):
            raise SettingTypeError(f"{self.name}: is_hwc must be a bool, got {is_hwc!r}")
        self.mean, self.std = (np.array(given, np.float32) for given in (mean, std))
        self.is_hwc = is_hwc

    def compute(self, array: Any) -> Any:
        image(array, self.name)
        made = array[:, :, None] if array.ndim == 2 else array
        channels = made.shape[-1 if self.is_hwc else 0]
        if len(self.mean) not in (1, channels):
            raise StateError(f"{self.name}: {len(self.mean)} means for an image with {channels} channels")
        shape = (1, 1, -1) if self.is_hwc else (-1, 1, 1)
        made = (made.astype(np.float32) - self.mean.reshape(shape)) / self.std.reshape(shape)
        return made.reshape(array.shape)


class HWC2CHW(FixedImage):
    """(height, width, channels) as (channels, height, width)."""

    def compute(self, array: Any) -> Any:
        image(array, self.name)
        return np.ascontiguousarray(array.transpose(2, 0, 1)) if array.ndim == 3 else array.copy()


class ToTensor(FixedImage):
    """(height, width[, channels]) as (channels, height, width), divided by 255; a PIL picture, too."""

    def __init__(self, output_type: Any = np.float32) -> None:
        self.output_type = numpy_type(output_type, "ToTensor")

    def _input(self, value: Any) -> Any:
        return super()._input(np.asarray(value) if type(value).__module__.startswith("PIL.") else value)

    def compute(self, array: Any) -> Any:
        image(array, self.name)
        made = affine(array if array.ndim == 3 else array[:, :, None], 1 / 255, 0).transpose(2, 0, 1)
        return np.ascontiguousarray(made.astype(self.output_type))


class ToType(TypeCast):
    """Values as another type."""


class Invert(FixedImage):
    """``255 - x`` of an image with three channels."""

    def compute(self, array: Any) -> Any:
        image(array, self.name)
        if array.ndim != 3 or array.shape[2] != 3:
            raise StateError(f"Invert: an image with three channels is needed, got shape {array.shape}")
        return (255 - array.astype(np.float64)).astype(array.dtype)
