"""Random primitives."""

from __future__ import annotations

from harness import dtypes
from harness.framework.ops.functions.random import stream_attrs
from harness.framework.ops.primitive import Primitive

__all__ = ["Dropout", "StandardNormal", "UniformReal"]


class Dropout(Primitive):
    """Drops elements with probability ``1 - keep_prob``; gives the tensor and the mask."""

    def __init__(self, keep_prob: float = 0.5, Seed0: int = 0, Seed1: int = 0) -> None:
        super().__init__(attrs={"side_effect_hidden": True}, trailing=(float(keep_prob), Seed0, Seed1))


class StandardNormal(Primitive):
    """A tensor of normal numbers."""

    def __init__(self, seed: int = 0, seed2: int = 0) -> None:
        super().__init__(attrs=stream_attrs((seed, seed2), dtypes.float32, None))


class UniformReal(Primitive):
    """A tensor of numbers uniform in [0, 1)."""

    def __init__(self, seed: int = 0, seed2: int = 0) -> None:
        super().__init__(attrs=stream_attrs((seed, seed2), dtypes.float32, None))
