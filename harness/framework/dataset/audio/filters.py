"""Filters of waveforms: difference equations, and those of second order that are designed from frequencies.

The designs are those of R. Bristow-Johnson's cookbook and of SoX.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.errors import SettingError, SettingTypeError, StateError
from harness.framework.dataset.transforms.base import Fixed
from harness.framework.dataset.vision.arguments import integer, real

_LARGEST_INT = 2147483647
#: sample rate -> frequency, slope, gain
_DEEMPHASIS = {44100: (5283.0, 0.4845, -9.477), 48000: (5356.0, 0.479, -9.62)}
#: sample rate -> zeros, poles
_RIAA = {
    44100: ((-0.2014898, 0.9233820), (0.7083149, 0.9924091)),
    48000: ((-0.1766069, 0.9321590), (0.7396325, 0.9931330)),
    88200: ((-0.1168735, 0.9648312), (0.8590646, 0.9964002)),
    96000: ((-0.1141486, 0.9676817), (0.8699137, 0.9966946)),
}


def rate(value: Any, owner: str) -> int:
    """``value`` if it is a sample rate: an int other than 0."""
    if integer(value, "sample_rate", owner, -_LARGEST_INT - 1, _LARGEST_INT) == 0:
        raise SettingError(f"{owner}: sample_rate must not be 0")
    return int(value)


def floats(array: Any, owner: str) -> Any:
    """A waveform of floats; ``StateError`` for anything else."""
    if array.ndim < 1 or array.dtype.kind != "f":
        raise StateError(f"{owner}: a waveform (..., time) of floats is needed, got {array.dtype} {array.shape}")
    return array


class LFilter(Fixed):
    """The difference equation with coefficients ``a_coeffs`` of results and ``b_coeffs`` of inputs, the first of ``a``
    dividing all; ``clamp`` keeps results in [-1, 1]."""

    def __init__(self, a_coeffs: Sequence[float], b_coeffs: Sequence[float], clamp: bool = True) -> None:
        for name, given in (("a_coeffs", a_coeffs), ("b_coeffs", b_coeffs)):
            if not isinstance(given, (list, tuple)):
                raise SettingTypeError(f"{self.name}: {name} must be a list or tuple, got {type(given).__name__}")
            for at, each in enumerate(given):
                real(each, f"{name}[{at}]", self.name)
        if len(a_coeffs) != len(b_coeffs):
            raise SettingError(f"{self.name}: a_coeffs and b_coeffs must have one length")
        if not isinstance(clamp, bool):
            raise SettingTypeError(f"{self.name}: clamp must be a bool, got {type(clamp).__name__}")
        if a_coeffs[0] == 0:
            raise SettingError(f"{self.name}: the first of a_coeffs must not be 0")
        self.a, self.b, self.clamp = list(a_coeffs), list(b_coeffs), clamp

    def compute(self, array: Any) -> Any:
        floats(array, self.name)
        kind = array.dtype.type
        b, a = ([kind(each / self.a[0]) for each in given] for given in (self.b, self.a))
        out = np.zeros_like(array)
        for at in range(array.shape[-1]):
            value = b[0] * array[..., at]
            for back in range(1, min(len(b) - 1, at) + 1):
                value = value + b[back] * array[..., at - back] - a[back] * out[..., at - back]
            out[..., at] = value
        return np.clip(out, -1, 1).astype(array.dtype) if self.clamp else out


class Biquad(LFilter):
    """The filter of second order with six coefficients."""

    def __init__(self, b0: float, b1: float, b2: float, a0: float, a1: float, a2: float) -> None:
        super().__init__((a0, a1, a2), (b0, b1, b2))


class _Designed(Biquad):
    """A filter that is designed from a frequency: ``_design`` gives its coefficients."""

    def __init__(self, sample_rate: int, frequency: float, quality: float, **more: Any) -> None:
        owner, self.more = self.name, more
        self.rate, self.frequency = rate(sample_rate, owner), real(frequency, "the frequency", owner)
        self.quality = real(quality, "Q", owner, 0, 1)
        if self.quality == 0:
            raise SettingError(f"{owner}: Q must be above 0")
        self.angle = 2 * math.pi * self.frequency / self.rate
        self.cosine = math.cos(self.angle)
        self.width = math.sin(self.angle) / 2 / self.quality
        super().__init__(*self._design())

    def _design(self) -> tuple[float, float, float, float, float, float]:
        raise NotImplementedError

    def _poles(self) -> tuple[float, float, float]:
        return 1 + self.width, -2 * self.cosine, 1 - self.width


class AllpassBiquad(_Designed):
    """Passes all frequencies; the phase turns at ``central_freq``."""

    def __init__(self, sample_rate: int, central_freq: float, Q: float = 0.707) -> None:
        super().__init__(sample_rate, central_freq, Q)

    def _design(self) -> tuple[float, float, float, float, float, float]:
        return 1 - self.width, -2 * self.cosine, 1 + self.width, *self._poles()


class BandBiquad(_Designed):
    """Passes a band as SoX's ``band``; ``noise`` fits it to unpitched sounds."""

    def __init__(self, sample_rate: int, central_freq: float, Q: float = 0.707, noise: bool = False) -> None:
        super().__init__(sample_rate, central_freq, Q, noise=_flag("noise", noise, self.name))

    def _design(self) -> tuple[float, float, float, float, float, float]:
        a2 = math.exp(-2 * math.pi * self.frequency / self.quality / self.rate)
        a1 = -4 * a2 / (1 + a2) * self.cosine
        b0 = math.sqrt(1 - a1 * a1 / (4 * a2)) * (1 - a2)
        if self.more["noise"]:
            b0 = math.sqrt(((1 + a2) * (1 + a2) - a1 * a1) * (1 - a2) / (1 + a2))
        return b0, 0.0, 0.0, 1.0, a1, a2


class BandpassBiquad(_Designed):
    """Passes a band; with ``const_skirt_gain`` its peak is Q."""

    def __init__(self, sample_rate: int, central_freq: float, Q: float = 0.707, const_skirt_gain: bool = False) -> None:
        super().__init__(sample_rate, central_freq, Q, skirt=_flag("const_skirt_gain", const_skirt_gain, self.name))

    def _design(self) -> tuple[float, float, float, float, float, float]:
        peak = math.sin(self.angle) / 2 if self.more["skirt"] else self.width
        return peak, 0.0, -peak, *self._poles()


class BandrejectBiquad(_Designed):
    """Passes all but a band."""

    def __init__(self, sample_rate: int, central_freq: float, Q: float = 0.707) -> None:
        super().__init__(sample_rate, central_freq, Q)

    def _design(self) -> tuple[float, float, float, float, float, float]:
        return 1.0, -2 * self.cosine, 1.0, *self._poles()


class HighpassBiquad(_Designed):
    """Passes high frequencies."""

    def __init__(self, sample_rate: int, cutoff_freq: float, Q: float = 0.707) -> None:
        super().__init__(sample_rate, cutoff_freq, Q)

    def _design(self) -> tuple[float, float, float, float, float, float]:
        return (1 + self.cosine) / 2, -1 - self.cosine, (1 + self.cosine) / 2, *self._poles()


class LowpassBiquad(_Designed):
    """Passes low frequencies."""

    def __init__(self, sample_rate: int, cutoff_freq: float, Q: float = 0.707) -> None:
        super().__init__(sample_rate, cutoff_freq, Q)

    def _design(self) -> tuple[float, float, float, float, float, float]:
        return (1 - self.cosine) / 2, 1 - self.cosine, (1 - self.cosine) / 2, *self._poles()


class EqualizerBiquad(_Designed):
    """Raises or lowers a band by ``gain`` decibels."""

    def __init__(self, sample_rate: int, center_freq: float, gain: float, Q: float = 0.707) -> None:
        super().__init__(sample_rate, center_freq, Q, gain=real(gain, "gain", self.name))

    def _design(self) -> tuple[float, float, float, float, float, float]:
        level = 10 ** (self.more["gain"] / 40)
        zeros = 1 + self.width * level, -2 * self.cosine, 1 - self.width * level
        return *zeros, 1 + self.width / level, -2 * self.cosine, 1 - self.width / level


def _shelf(level: float, cosine: float, width: float, side: int) -> tuple[float, float, float, float, float, float]:
    """A shelf of the low (``side`` -1) or the high frequencies (1)."""
    less, more, bend = (level - 1) * cosine, (level + 1) * cosine, 2 * math.sqrt(level) * width
    zeros = level + 1 + side * less + bend, level - 1 + side * more, level + 1 + side * less - bend
    poles = level + 1 - side * less + bend, level - 1 - side * more, level + 1 - side * less - bend
    return (level * zeros[0], -side * 2 * level * zeros[1], level * zeros[2],
            poles[0], side * 2 * poles[1], poles[2])  # fmt: skip


class BassBiquad(_Designed):
    """Raises or lowers low frequencies by ``gain`` decibels."""

    def __init__(self, sample_rate: int, gain: float, central_freq: float = 100.0, Q: float = 0.707) -> None:
        super().__init__(sample_rate, central_freq, Q, gain=real(gain, "gain", self.name))

    def _design(self) -> tuple[float, float, float, float, float, float]:
        return _shelf(10 ** (self.more["gain"] / 40), self.cosine, self.width, -1)


class TrebleBiquad(_Designed):
    """Raises or lowers high frequencies by ``gain`` decibels."""

    def __init__(self, sample_rate: int, gain: float, central_freq: float = 3000, Q: float = 0.707) -> None:
        super().__init__(sample_rate, central_freq, Q, gain=real(gain, "gain", self.name))

    def _design(self) -> tuple[float, float, float, float, float, float]:
        return _shelf(10 ** (self.more["gain"] / 40), self.cosine, self.width, 1)


class DeemphBiquad(Biquad):
    """Takes the emphasis of a compact disc back; 44100 or 48000 samples a second."""

    def __init__(self, sample_rate: int) -> None:
        frequency, slope, gain = _of_rate(_DEEMPHASIS, sample_rate, self.name)
        level, angle = 10 ** (gain / 40), 2 * math.pi * frequency / sample_rate
        width = math.sin(angle) / 2 * math.sqrt((level + 1 / level) * (1 / slope - 1) + 2)
        super().__init__(*_shelf(level, math.cos(angle), width, 1))


class RiaaBiquad(Biquad):
    """Equalises a vinyl record; 44100, 48000, 88200 or 96000 samples a second."""

    def __init__(self, sample_rate: int) -> None:
        zeros, poles = _of_rate(_RIAA, sample_rate, self.name)
        b, a = ((1.0, -(first + second), first * second) for first, second in (zeros, poles))
        turn = np.exp(-2j * np.pi * 1000 / sample_rate * np.arange(3))
        level = float(abs(np.dot(a, turn)) / abs(np.dot(b, turn)))
        super().__init__(b[0] * level, b[1] * level, b[2] * level, *a)


def _flag(name: str, value: Any, owner: str) -> bool:
    if not isinstance(value, bool):
        raise SettingTypeError(f"{owner}: {name} must be a bool, got {type(value).__name__}")
    return value


def _of_rate(table: dict[int, Any], sample_rate: Any, owner: str) -> Any:
    if isinstance(sample_rate, bool) or not isinstance(sample_rate, int):
        raise SettingTypeError(f"{owner}: sample_rate must be an int, got {type(sample_rate).__name__}")
    if sample_rate not in table:
        raise SettingError(f"{owner}: sample_rate must be {' or '.join(map(str, table))}, got {sample_rate}")
    return table[sample_rate]
