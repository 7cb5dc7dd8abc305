"""Random primitives."""

from __future__ import annotations

from harness import dtypes
from harness.errors import SettingError, SettingTypeError
from harness.framework.ops.functions.random import stream_attrs
from harness.framework.ops.primitive import Primitive
from harness.framework.seed import operator_seeds

__all__ = [
    "Bernoulli",
    "Dropout",
    "Dropout2D",
    "Dropout3D",
    "RandomShuffle",
    "StandardNormal",
    "UniformInt",
    "UniformReal",
]


class Dropout(Primitive):
    """Drops elements with probability ``1 - keep_prob``; gives the tensor and the mask."""

    def __init__(self, keep_prob: float = 0.5, Seed0: int = 0, Seed1: int = 0) -> None:
        super().__init__(attrs={"side_effect_hidden": True}, trailing=(float(keep_prob), Seed0, Seed1))


class _Channels(Primitive):
    def __init__(self, keep_prob: float = 0.5) -> None:
        if isinstance(keep_prob, bool) or not isinstance(keep_prob, (int, float)):
            raise SettingTypeError(f"{type(self).__name__}: keep_prob must be a number, got {keep_prob!r}")
        if not 0 <= keep_prob <= 1:
            raise SettingError(f"{type(self).__name__}: keep_prob must be in [0, 1], got {keep_prob}")
        seeds = dict(zip(("seed0", "seed1"), operator_seeds(type(self).__name__, 0), strict=True))
        super().__init__(attrs={"keep_prob": float(keep_prob), "side_effect_hidden": True, **seeds})


class Dropout2D(_Channels):
    """Drops channels of (n, c, h, w) with probability ``1 - keep_prob``; gives the tensor and the mask."""


class Dropout3D(_Channels):
    """Drops channels of (n, c, d, h, w) in the same way."""


class StandardNormal(Primitive):
    """A tensor of normal numbers."""

    def __init__(self, seed: int = 0, seed2: int = 0) -> None:
        super().__init__(attrs=stream_attrs((seed, seed2), dtypes.float32, None))


class UniformReal(Primitive):
    """A tensor of numbers uniform in [0, 1)."""

    def __init__(self, seed: int = 0, seed2: int = 0) -> None:
        super().__init__(attrs=stream_attrs((seed, seed2), dtypes.float32, None))


class Bernoulli(Primitive):
    """1 with a probability, else 0."""

    def __init__(self, seed: int = -1, offset: int = 0) -> None:
        super().__init__(attrs={"output_names": ["y"], "input_names": ["x", "p"], "seed": seed, "offset": offset})


class RandomShuffle(Primitive):
    """The rows in a drawn order."""

    def __init__(self, seed: int = 0, seed2: int = 0) -> None:
        super().__init__(attrs={
            "seed2": seed2, "input_names": ["input_x"], "output_names": ["output"], "side_effect_hidden": True,
            "seed": seed,
        })  # fmt: skip


class UniformInt(Primitive):
    """Whole numbers drawn from a range."""

    def __init__(self, seed: int = 0, seed2: int = 0) -> None:
        super().__init__(attrs={
            "seed2": seed2, "input_names": ["shape", "minval", "maxval"], "output_names": ["output"],
            "side_effect_hidden": True, "seed": seed,
        })  # fmt: skip
