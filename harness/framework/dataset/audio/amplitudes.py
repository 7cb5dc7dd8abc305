"""Transforms of waveforms sample by sample, and of spectra by their magnitude."""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import StrEnum
from typing import Any, TypeVar

import numpy as np

from harness.errors import SettingError, SettingTypeError, StateError
from harness.framework.dataset.audio.utils import FadeShape, GainType, ScaleType
from harness.framework.dataset.transforms.base import Fixed
from harness.framework.dataset.vision.arguments import integer, positive, real

_LARGEST_INT = 2147483647
_Kind = TypeVar("_Kind", bound=StrEnum)


def _as_float(array: Any, owner: str, axes: int = 1) -> Any:
    """A waveform as floats of at least 32 bits."""
    if array.ndim < axes or array.dtype.kind not in "fiu":
        raise StateError(f"{owner}: numbers of {axes} or more axes are needed, got {array.dtype} {array.shape}")
    return array if array.dtype == np.float64 else array.astype(np.float32)


def _complex(array: Any, owner: str) -> tuple[Any, Any]:
    """The real and imaginary parts of ``(..., 2)``."""
    values = _as_float(array, owner, 2)
    if values.shape[-1] != 2:
        raise StateError(f"{owner}: complex numbers (..., 2) are needed, got {array.shape}")
    return values[..., 0], values[..., 1]


def _kind(value: Any, kind: type[_Kind], name: str, owner: str) -> _Kind:
    if not isinstance(value, kind):
        raise SettingTypeError(f"{owner}: {name} must be a {kind.__name__}, got {type(value).__name__}")
    return value


def _power(value: Any, owner: str) -> float:
    return real(value, "power", owner, 0)


class AmplitudeToDB(Fixed):
    """Decibels of amplitudes or powers over ``ref_value``, at most ``top_db`` below the largest."""

    def __init__(
        self, stype: Any = ScaleType.POWER, ref_value: float = 1.0, amin: float = 1e-10, top_db: float = 80.0
    ) -> None:
        self.factor = 10.0 if _kind(stype, ScaleType, "stype", self.name) is ScaleType.POWER else 20.0
        self.least = positive(amin, "amin", self.name)
        self.reference = max(positive(ref_value, "ref_value", self.name), self.least)
        self.top = positive(top_db, "top_db", self.name)

    def compute(self, array: Any) -> Any:
        values = _as_float(array, self.name, 2)
        decibels = self.factor * np.log10(np.maximum(values, self.least)) - self.factor * math.log10(self.reference)
        largest = decibels.max(axis=tuple(range(max(-3, -values.ndim), 0)), keepdims=True)
        return np.maximum(decibels, largest - self.top).astype(values.dtype)


class Angle(Fixed):
    """The angles of complex numbers (..., 2)."""

    def compute(self, array: Any) -> Any:
        first, second = _complex(array, self.name)
        return np.arctan2(second, first)


class ComplexNorm(Fixed):
    """The magnitudes of complex numbers (..., 2), to ``power``."""

    def __init__(self, power: float = 1.0) -> None:
        self.power = _power(power, self.name)

    def compute(self, array: Any) -> Any:
        first, second = _complex(array, self.name)
        return np.power(first * first + second * second, first.dtype.type(self.power / 2))


class Magphase(Fixed):
    """The magnitudes of complex numbers (..., 2), to ``power``, and their angles."""

    def __init__(self, power: float = 1.0) -> None:
        self.norm, self.angle = ComplexNorm(power), Angle()

    def compute(self, array: Any) -> Any:
        return self.norm.compute(array), self.angle.compute(array)


class Contrast(Fixed):
    """Makes a sound louder to the ear, as SoX's ``contrast``."""

    def __init__(self, enhancement_amount: float = 75.0) -> None:
        self.amount = real(enhancement_amount, "enhancement_amount", self.name, 0, 100) / 750

    def compute(self, array: Any) -> Any:
        bent = _as_float(array, self.name) * array.dtype.type(math.pi / 2)
        return np.sin(bent + self.amount * np.sin(bent * 4)).astype(bent.dtype)


class DBToAmplitude(Fixed):
    """``ref`` times the amplitudes of decibels, to ``power``."""

    def __init__(self, ref: float, power: float) -> None:
        self.reference, self.power = real(ref, "ref", self.name), real(power, "power", self.name)

    def compute(self, array: Any) -> Any:
        values = _as_float(array, self.name)
        return (self.reference * np.power(np.power(10.0, values * 0.1), self.power)).astype(values.dtype)


class DCShift(Fixed):
    """Moves a waveform by ``shift``; ``limiter_gain`` bends what would leave [-1, 1]."""

    def __init__(self, shift: float, limiter_gain: float | None = None) -> None:
        self.shift = real(shift, "shift", self.name, -2, 2)
        self.gain = self.shift if limiter_gain is None else real(limiter_gain, "limiter_gain", self.name)

    def compute(self, array: Any) -> Any:
        values = _as_float(array, self.name)
        threshold = 1 - (abs(self.shift) - self.gain)
        side = 1 if self.shift > 0 else -1
        moved = np.clip(values + self.shift, -1, 1)
        beyond = values * side > threshold
        if self.shift and threshold != 1 and beyond.any():
            # MindSpore adds the threshold on both sides.
            bent = (values - side * threshold) * self.gain / (1 - threshold) + threshold + self.shift
            moved = np.where(beyond, side * np.minimum(side * bent, threshold), moved)
        return moved.astype(values.dtype)


#: the curve of a fade -> its values, from those of a line that rises
_CURVES: dict[FadeShape, Callable[[Any], Any]] = {
    FadeShape.LINEAR: lambda line: line,
    FadeShape.EXPONENTIAL: lambda line: np.power(2, line - 1) * line,
    FadeShape.LOGARITHMIC: lambda line: np.log10(0.1 + line) + 1,
    FadeShape.QUARTER_SINE: lambda line: np.sin(line * np.pi / 2),
    FadeShape.HALF_SINE: lambda line: np.sin(line * np.pi - np.pi / 2) / 2 + 0.5,
}


class Fade(Fixed):
    """Fades a waveform in and out over numbers of samples."""

    def __init__(self, fade_in_len: int = 0, fade_out_len: int = 0, fade_shape: Any = FadeShape.LINEAR) -> None:
        self.rising = integer(fade_in_len, "fade_in_len", self.name, 0, _LARGEST_INT)
        self.falling = integer(fade_out_len, "fade_out_len", self.name, 0, _LARGEST_INT)
        self.curve = _CURVES[_kind(fade_shape, FadeShape, "fade_shape", self.name)]

    def compute(self, array: Any) -> Any:
        values, length = _as_float(array, self.name), array.shape[-1]
        if max(self.rising, self.falling) > length:
            raise StateError(f"{self.name}: a fade is longer than the waveform of {length} samples")
        scale = np.ones(length)
        scale[: self.rising] *= self.curve(np.linspace(0, 1, self.rising))
        scale[length - self.falling :] *= self.curve(1 - np.linspace(0, 1, self.falling))
        return (values * scale).astype(values.dtype)


class Gain(Fixed):
    """Raises or lowers a waveform by ``gain_db`` decibels."""

    def __init__(self, gain_db: float = 1.0) -> None:
        self.ratio = 10 ** (real(gain_db, "gain_db", self.name) / 20)

    def compute(self, array: Any) -> Any:
        values = _as_float(array, self.name)
        return values * values.dtype.type(self.ratio)


class Vol(Fixed):
    """Raises or lowers a waveform by ``gain``, an amplitude, a power or decibels, and keeps it in [-1, 1]."""

    def __init__(self, gain: float, gain_type: Any = GainType.AMPLITUDE) -> None:
        kind = _kind(gain_type, GainType, "gain_type", self.name)
        given = real(gain, "gain", self.name)
        if kind is not GainType.DB and (given < 0 or (kind is GainType.POWER and given == 0)):
            raise SettingError(f"{self.name}: the gain of a {kind} must be above 0, got {gain}")
        self.ratio = {
            GainType.AMPLITUDE: given,
            GainType.POWER: math.sqrt(abs(given)),
            GainType.DB: 10 ** (given / 20) if kind is GainType.DB else 0.0,
        }[kind]

    def compute(self, array: Any) -> Any:
        values = _as_float(array, self.name)
        return np.clip(values * values.dtype.type(self.ratio), -1, 1)


class MaskAlongAxis(Fixed):
    """Sets ``mask_width`` rows (``axis`` 1) or columns (2) of a spectrum from ``mask_start`` on to ``mask_value``."""

    def __init__(self, mask_start: int, mask_width: int, mask_value: float, axis: int) -> None:
        self.start = integer(mask_start, "mask_start", self.name, 0, _LARGEST_INT)
        self.width = integer(mask_width, "mask_width", self.name, 1, _LARGEST_INT)
        self.value = real(mask_value, "mask_value", self.name)
        self.axis = integer(axis, "axis", self.name, 1, 2)

    def compute(self, array: Any) -> Any:
        made = _as_float(array, self.name, 2).copy()
        end = self.start + self.width
        if end > made.shape[self.axis - 3]:
            raise StateError(f"{self.name}: the mask ends at {end}, the axis at {made.shape[self.axis - 3]}")
        np.moveaxis(made, self.axis - 3, 0)[self.start : end] = self.value
        return made


class MuLawEncoding(Fixed):
    """Integers of a waveform in [-1, 1] by the law of mu."""

    def __init__(self, quantization_channels: int = 256) -> None:
        self.mu = integer(quantization_channels, "quantization_channels", self.name, 1, _LARGEST_INT) - 1

    def compute(self, array: Any) -> Any:
        values = _as_float(array, self.name)
        bent = np.sign(values) * np.log1p(self.mu * np.abs(values)) / np.log1p(self.mu)
        return ((bent + 1) / 2 * self.mu + 0.5).astype(np.int32)


class MuLawDecoding(Fixed):
    """A waveform of integers by the law of mu."""

    def __init__(self, quantization_channels: int = 256) -> None:
        self.mu = integer(quantization_channels, "quantization_channels", self.name, 1, _LARGEST_INT) - 1

    def compute(self, array: Any) -> Any:
        values = _as_float(array, self.name)
        bent = values / self.mu * 2 - 1
        return (np.sign(bent) * (np.exp(np.abs(bent) * np.log1p(self.mu)) - 1) / self.mu).astype(values.dtype)


class Overdrive(Fixed):
    """Distorts a waveform, as SoX's ``overdrive``."""

    def __init__(self, gain: float = 20.0, color: float = 20.0) -> None:
        self.ratio = 10 ** (real(gain, "gain", self.name, 0, 100) / 20)
        self.offset = real(color, "color", self.name, 0, 100) / 200

    def compute(self, array: Any) -> Any:
        values = _as_float(array, self.name)
        driven = values * self.ratio + self.offset
        driven = np.where(driven < -1, -2 / 3, np.where(driven > 1, 2 / 3, driven - driven**3 / 3))
        out = np.empty_like(driven)
        last = before = np.zeros_like(driven[..., 0])
        for at in range(values.shape[-1]):
            last = driven[..., at] - before + 0.995 * last
            before = driven[..., at]
            out[..., at] = np.clip(values[..., at] * 0.5 + last * 0.75, -1, 1)
        return out.astype(values.dtype)
