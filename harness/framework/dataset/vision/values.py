"""Transforms of an image's values and axes."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.errors import SettingError, SettingTypeError, StateError
from harness.framework.dataset.checks import flag
from harness.framework.dataset.transforms.values import TypeCast, numpy_type
from harness.framework.dataset.vision.arithmetic import saturated
from harness.framework.dataset.vision.base import FixedImage, PictureImage
from harness.framework.dataset.vision.utils import coloured, image, is_picture


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
        if len(mean) != len(std):
            raise SettingError(f"{self.name}: mean and std must be of one length, got {len(mean)} and {len(std)}")
        for name, given in (("mean", mean), ("std", std)):
            low, kind = (0, "[0, 255]") if name == "mean" else (np.nextafter(0, 1), "(0, 255]")
            for value in given:
                if not low <= _number(value, name, self.name) <= 255:
                    raise SettingError(f"{self.name}: {name} must be in {kind}, got {value}")
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

    def compute(self, array: Any) -> Any:
        image(array, self.name)
        made = affine(array if array.ndim == 3 else array[:, :, None], 1 / 255, 0).transpose(2, 0, 1)
        return np.ascontiguousarray(made.astype(self.output_type))

    def __call__(self, *inputs: Any) -> Any:
        # Measured: a picture is divided in float64 where the transform is called, not in a pipeline.
        if len(inputs) == 1 and is_picture(inputs[0]):
            array = np.asarray(inputs[0])
            array = array if array.ndim == 3 else array[:, :, None]
            return np.ascontiguousarray((array.transpose(2, 0, 1) / 255.0).astype(self.output_type))
        return super().__call__(*inputs)


class ToType(TypeCast):
    """Values as another type."""


def inverted(array: Any, owner: str) -> Any:
    """``255 - x`` of an image with three channels."""
    return saturated(255 - coloured(array, owner).astype(np.float64), array.dtype)


class Invert(FixedImage):
    """``255 - x`` of an image with three channels."""

    def compute(self, array: Any) -> Any:
        return inverted(array, self.name)

    def picture(self, image: Any) -> Any:
        from PIL import ImageOps

        return ImageOps.invert(image)


class NormalizePad(Normalize):
    """``(x - mean) / std``, and one more channel of zeros, as float32 or float16."""

    def __init__(
        self, mean: Sequence[float], std: Sequence[float], dtype: str = "float32", is_hwc: bool = True
    ) -> None:
        super().__init__(mean, std, is_hwc)
        if not isinstance(dtype, str):
            raise SettingTypeError(f"NormalizePad: dtype must be a str, got {dtype!r}")
        if dtype not in ("float32", "float16"):
            raise SettingError(f'NormalizePad: dtype must be "float32" or "float16", got {dtype!r}')
        self.dtype = np.dtype(dtype)

    def compute(self, array: Any) -> Any:
        made = super().compute(array).astype(self.dtype)
        # Measured: also of (height, width, channels) the zeros come behind all of the other channels.
        shape = [*array.shape, 1][:3]
        shape[2 if self.is_hwc else 0] += 1
        return np.concatenate([made.reshape(-1), np.zeros(math.prod(shape) - made.size, self.dtype)]).reshape(shape)


class LinearTransformation(PictureImage):
    """An array, all of it in one row, minus ``mean_vector``, times ``transformation_matrix``, in its own shape."""

    def __init__(self, transformation_matrix: Any, mean_vector: Any) -> None:
        for name, given in (("transformation_matrix", transformation_matrix), ("mean_vector", mean_vector)):
            if not isinstance(given, np.ndarray):
                raise SettingTypeError(f"LinearTransformation: {name} must be an array, got {given!r}")
        if transformation_matrix.ndim != 2 or len(set(transformation_matrix.shape)) != 1:
            raise SettingError(f"LinearTransformation: a square matrix is needed, got {transformation_matrix.shape}")
        if mean_vector.shape[0] != transformation_matrix.shape[0]:
            raise SettingError(f"LinearTransformation: {mean_vector.shape[0]} means for {transformation_matrix.shape}")
        self.transformation_matrix, self.mean_vector = transformation_matrix, mean_vector

    def compute(self, array: Any) -> Any:
        if not isinstance(array, np.ndarray):
            raise SettingTypeError(f"LinearTransformation: an array is needed, got {type(array).__name__}")
        if array.size != len(self.transformation_matrix):
            raise SettingError(f"LinearTransformation: {array.size} values for {self.transformation_matrix.shape}")
        return np.dot(array.reshape(1, -1) - self.mean_vector, self.transformation_matrix).reshape(array.shape)


class _Hues(PictureImage):
    """A change of arrays ([n, ]height, width, 3), or ([n, ]3, height, width), in float64."""

    def __init__(self, is_hwc: bool = False) -> None:
        self.is_hwc = flag(is_hwc, "is_hwc", self.name)

    def compute(self, array: Any) -> Any:
        if not isinstance(array, np.ndarray) or array.ndim not in (3, 4):
            raise SettingTypeError(f"{self.name}: an image, or a batch of them, is needed, got "
                                   f"{getattr(array, 'shape', type(array).__name__)}")  # fmt: skip
        axis = array.ndim - 1 if self.is_hwc else array.ndim - 3
        if array.shape[axis] != 3:
            raise SettingTypeError(f"{self.name}: three channels are needed, got {array.shape[axis]}")
        if not array.size:
            raise SettingError(f"{self.name}: the image is empty, its shape is {array.shape}")
        if array.ndim == 4:
            return np.array([self.compute(each) for each in array])
        channels = np.moveaxis(array, axis, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            made = self.change(*channels.astype(np.float64))
        if array.dtype == np.float32:
            # As numpy's ``vectorize`` has it, the first pixel decides which channels are rounded to float32.
            narrow = self.narrow(*(float(each.flat[0]) for each in channels))
            made = [each.astype(np.float32) if at in narrow else each for at, each in enumerate(made)]
        return np.stack(made, axis)

    @abstractmethod
    def change(self, one: Any, two: Any, three: Any) -> Sequence[Any]:
        """The three channels of the result."""

    @abstractmethod
    def narrow(self, one: float, two: float, three: float) -> Sequence[int]:
        """Which channels are float32, where the first pixel of a float32 image has these values."""


class RgbToHsv(_Hues):
    """Red, green and blue as hue (in [0, 1)), saturation and value."""

    def change(self, one: Any, two: Any, three: Any) -> Sequence[Any]:
        most = np.maximum(np.maximum(one, two), three)
        span = most - np.minimum(np.minimum(one, two), three)
        red, green, blue = ((most - each) / span for each in (one, two, three))
        hue = np.where(one == most, blue - green, np.where(two == most, 2.0 + red - blue, 4.0 + green - red))
        grey = span == 0
        return np.where(grey, 0.0, (hue / 6.0) % 1.0), np.where(grey, 0.0, span / most), most

    def narrow(self, one: float, two: float, three: float) -> Sequence[int]:
        return (2,) if one == two == three else (1, 2)


class HsvToRgb(_Hues):
    """Hue (in [0, 1)), saturation and value as red, green and blue."""

    def change(self, one: Any, two: Any, three: Any) -> Sequence[Any]:
        sixth = np.trunc(one * 6.0)
        part = one * 6.0 - sixth
        low, falling = three * (1.0 - two), three * (1.0 - two * part)
        rising = three * (1.0 - two * (1.0 - part))
        at = sixth.astype(np.int64) % 6
        tables = ((three, rising, low), (falling, three, low), (low, three, rising),
                  (low, falling, three), (rising, low, three), (three, low, falling))  # fmt: skip
        return [np.where(two == 0, three, np.choose(at, [table[channel] for table in tables])) for channel in range(3)]

    def narrow(self, one: float, two: float, three: float) -> Sequence[int]:
        return (0, 1, 2) if two == 0 else ((0, 1, 1, 2, 2, 0)[int(one * 6.0) % 6],)
