"""``mindspore.dataset.audio.utils``: names of kinds."""

from __future__ import annotations

from enum import StrEnum

from harness.framework.dataset.vision.utils import Border as BorderType

__all__ = [
    "BorderType", "DensityFunction", "FadeShape", "GainType", "Interpolation", "MelType", "Modulation", "NormMode",
    "NormType", "ResampleMethod", "ScaleType", "WindowType",
]  # fmt: skip


class DensityFunction(StrEnum):
    """Distributions of dither."""

    TPDF = "TPDF"
    RPDF = "RPDF"
    GPDF = "GPDF"


class FadeShape(StrEnum):
    """Curves of a fade."""

    QUARTER_SINE = "quarter_sine"
    HALF_SINE = "half_sine"
    LINEAR = "linear"
    LOGARITHMIC = "logarithmic"
    EXPONENTIAL = "exponential"


class GainType(StrEnum):
    """What a gain is given in."""

    AMPLITUDE = "amplitude"
    POWER = "power"
    DB = "db"


class Interpolation(StrEnum):
    """Ways to interpolate."""

    LINEAR = "linear"
    QUADRATIC = "quadratic"


class MelType(StrEnum):
    """Scales of mel."""

    HTK = "htk"
    SLANEY = "slaney"


class Modulation(StrEnum):
    """Shapes of a modulation."""

    SINUSOIDAL = "sinusoidal"
    TRIANGULAR = "triangular"


class NormMode(StrEnum):
    """Norms of a cosine transform."""

    ORTHO = "ortho"
    NONE = "none"


class NormType(StrEnum):
    """Norms of mel filters."""

    SLANEY = "slaney"
    NONE = "none"


class ResampleMethod(StrEnum):
    """Ways to resample."""

    SINC_INTERPOLATION = "sinc_interpolation"
    KAISER_WINDOW = "kaiser_window"


class ScaleType(StrEnum):
    """What amplitudes are given in."""

    POWER = "power"
    MAGNITUDE = "magnitude"


class WindowType(StrEnum):
    """Windows."""

    BARTLETT = "bartlett"
    BLACKMAN = "blackman"
    HAMMING = "hamming"
    HANN = "hann"
    KAISER = "kaiser"
