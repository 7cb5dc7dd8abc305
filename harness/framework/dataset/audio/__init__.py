"""``mindspore.dataset.audio``: transforms of waveforms, which are arrays (..., time).

``tests/data/programs/audio_transforms.txt`` holds what they give under MindSpore 2.10.0.
"""

from harness.framework.dataset.audio.amplitudes import (
    AmplitudeToDB,
    Angle,
    ComplexNorm,
    Contrast,
    DBToAmplitude,
    DCShift,
    Fade,
    Gain,
    Magphase,
    MaskAlongAxis,
    MuLawDecoding,
    MuLawEncoding,
    Overdrive,
    Vol,
)
from harness.framework.dataset.audio.filters import (
    AllpassBiquad,
    BandBiquad,
    BandpassBiquad,
    BandrejectBiquad,
    BassBiquad,
    Biquad,
    DeemphBiquad,
    EqualizerBiquad,
    HighpassBiquad,
    LFilter,
    LowpassBiquad,
    RiaaBiquad,
    TrebleBiquad,
)
from harness.framework.dataset.audio.utils import (
    BorderType,
    DensityFunction,
    FadeShape,
    GainType,
    Interpolation,
    MelType,
    Modulation,
    NormMode,
    NormType,
    ResampleMethod,
    ScaleType,
    WindowType,
)

__all__ = [
    "AllpassBiquad", "AmplitudeToDB", "Angle", "BandBiquad", "BandpassBiquad", "BandrejectBiquad", "BassBiquad",
    "Biquad", "BorderType", "ComplexNorm", "Contrast", "DBToAmplitude", "DCShift", "DeemphBiquad", "DensityFunction",
    "EqualizerBiquad", "Fade", "FadeShape", "Gain", "GainType", "HighpassBiquad", "Interpolation", "LFilter",
    "LowpassBiquad", "Magphase", "MaskAlongAxis", "MelType", "Modulation", "MuLawDecoding", "MuLawEncoding",
    "NormMode", "NormType", "Overdrive", "ResampleMethod", "RiaaBiquad", "ScaleType", "TrebleBiquad", "Vol",
    "WindowType",
]  # fmt: skip
