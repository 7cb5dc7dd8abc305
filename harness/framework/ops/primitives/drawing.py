"""Primitives that draw numbers or classes, resize pictures and volumes, change colours, and read sequences.

Source: signatures and attributes of MindSpore 2.10.0, measured.
"""

from __future__ import annotations

from typing import Any

from harness import dtypes
from harness.errors import SettingTypeError
from harness.framework.ops.functions import drawing
from harness.framework.ops.functions.random import CATEGORIES, whole_tensor
from harness.framework.ops.primitive import Primitive, plain

__all__ = [
    "CTCGreedyDecoder", "CTCLoss", "Geqrf", "HSVToRGB", "ListDiff", "LogUniformCandidateSampler", "Multinomial",
    "Orgqr", "RGBToHSV", "RandomCategorical", "RandomGamma", "RandomPoisson", "ResizeBicubic", "StandardLaplace",
    "UniformCandidateSampler", "UpsampleNearest3D", "UpsampleTrilinear3D",
]  # fmt: skip

_PLAIN = plain("Geqrf", "HSVToRGB")
Geqrf: Any = _PLAIN["Geqrf"]
HSVToRGB: Any = _PLAIN["HSVToRGB"]


def _flags(owner: str, **values: Any) -> dict[str, bool]:
    for name, value in values.items():
        if not isinstance(value, bool):
            raise SettingTypeError(f"{owner}: {name} must be a bool, got {value!r}")
    return values


def _seeded(seed: int, seed2: int, *inputs: str, **added: Any) -> dict[str, Any]:
    for value in (seed, seed2):
        if isinstance(value, bool) or not isinstance(value, int):
            raise SettingTypeError(f"seeds must be ints, got {value!r}")
    names = {"seed2": seed2, "input_names": list(inputs), "output_names": ["output"]}
    return {**names, "side_effect_hidden": True, "seed": seed, **added}


class CTCGreedyDecoder(Primitive):
    """The labels of the likeliest class at each time."""

    def __init__(self, merge_repeated: bool = True) -> None:
        flags = _flags(self.name, merge_repeated=merge_repeated)
        super().__init__(attrs={**flags, "output_is_dynamic_shape": True})


class CTCLoss(Primitive):
    """Losses of alignments, and their gradient."""

    def __init__(
        self,
        preprocess_collapse_repeated: bool = False,
        ctc_merge_repeated: bool = True,
        ignore_longer_outputs_than_inputs: bool = False,
    ) -> None:
        flags = _flags(
            self.name,
            preprocess_collapse_repeated=preprocess_collapse_repeated,
            ignore_longer_outputs_than_inputs=ignore_longer_outputs_than_inputs,
            ctc_merge_repeated=ctc_merge_repeated,
        )
        super().__init__(attrs={
            "preprocess_collapse_repeated": flags.pop("preprocess_collapse_repeated"),
            "input_names": ["inputs", "labels_indices", "labels_values", "sequence_length"],
            "output_names": ["loss", "gradient"], **flags,
        })  # fmt: skip


class ListDiff(Primitive):
    """The elements of one list that another lacks, and their places."""

    def __init__(self, out_idx: Any = dtypes.int32) -> None:
        if out_idx not in (dtypes.int32, dtypes.int64):
            raise SettingTypeError(f"ListDiff: out_idx must be int32 or int64, got {out_idx}")
        names = {"output_names": ["out", "idx"], "out_idx": out_idx, "output_is_dynamic_shape": True}
        super().__init__(attrs={**names, "input_names": ["x", "y"]})


class Orgqr(Primitive):
    """The matrix that reflectors make."""

    def __init__(self) -> None:
        super().__init__(attrs={"output_names": ["y"], "input_names": ["x", "tau"]})


class RGBToHSV(Primitive):
    """Hue, saturation and value of red, green and blue."""

    def __init__(self) -> None:
        super().__init__(attrs={"output_names": ["y"], "input_names": ["images"]})


class RandomGamma(Primitive):
    """Numbers of the gamma distribution."""

    def __init__(self, seed: int = 0, seed2: int = 0) -> None:
        super().__init__(attrs=_seeded(seed, seed2, "shape", "alpha"))


class RandomPoisson(Primitive):
    """Numbers of the Poisson distribution."""

    def __init__(self, seed: int = 0, seed2: int = 0, dtype: Any = dtypes.int64) -> None:
        super().__init__(attrs=_seeded(seed, seed2, "shape", "rate", dtype=dtype))


class RandomCategorical(Primitive):
    """Classes drawn with the shares softmax gives."""

    def __init__(self, dtype: Any = dtypes.int64) -> None:
        if dtype not in CATEGORIES:
            raise SettingTypeError(f"RandomCategorical: dtype must be int16, int32 or int64, got {dtype}")
        names = {"output_names": ["output"], "side_effect_hidden": True}
        super().__init__(attrs={**names, "input_names": ["logits", "num_samples", "seed"], "dtype": dtype})

    def __call__(self, logits: Any, num_samples: Any, seed: Any) -> Any:
        return super().__call__(logits, whole_tensor(num_samples), whole_tensor(seed))


class Multinomial(Primitive):
    """Classes drawn with their shares of the weights."""

    def __init__(self, seed: int = 0, seed2: int = 0, dtype: Any = dtypes.int32) -> None:
        super().__init__(attrs=_seeded(seed, seed2, "x", "num_samples", dtype=dtype))

    def __call__(self, x: Any, num_samples: Any) -> Any:
        return super().__call__(x, whole_tensor(num_samples))


class StandardLaplace(Primitive):
    """Numbers of Laplace's distribution."""

    def __init__(self, seed: int = 0, seed2: int = 0) -> None:
        super().__init__(attrs=_seeded(seed, seed2, "shape"))

    def __call__(self, shape: Any) -> Any:
        return super().__call__(whole_tensor(shape))


class LogUniformCandidateSampler(Primitive):
    """Classes drawn, the smaller the likelier."""

    def __init__(
        self, num_true: int = 1, num_sampled: int = 5, unique: bool = True, range_max: int = 5, seed: int = 0
    ) -> None:
        attrs = drawing.candidates(self.name, num_true, num_sampled, unique, range_max, seed)
        super().__init__(attrs=drawing.LOG_UNIFORM | attrs)


class UniformCandidateSampler(Primitive):
    """Classes drawn, all alike."""

    def __init__(
        self,
        num_true: int,
        num_sampled: int,
        unique: bool,
        range_max: int,
        seed: int = 0,
        remove_accidental_hits: bool = False,
    ) -> None:
        added = _flags(self.name, remove_accidental_hits=remove_accidental_hits)
        super().__init__(attrs=drawing.candidates(self.name, num_true, num_sampled, unique, range_max, seed, **added))


class ResizeBicubic(Primitive):
    """Pictures resized by Keys' cubic."""

    def __init__(self, align_corners: bool = False, half_pixel_centers: bool = False) -> None:
        flags = _flags(self.name, align_corners=align_corners, half_pixel_centers=half_pixel_centers)
        super().__init__(trailing=tuple(flags.values()))


class UpsampleNearest3D(Primitive):
    """Volumes resized by the nearest element."""

    def __init__(self) -> None:
        super().__init__()

    def __call__(self, x: Any, output_size: Any, scales: Any) -> Any:
        return super().__call__(x, *(value if value is None else tuple(value) for value in (output_size, scales)))


class UpsampleTrilinear3D(UpsampleNearest3D):
    """Volumes resized by the mean of the eight nearest elements."""

    def __init__(self, align_corners: bool = False) -> None:
        Primitive.__init__(self, trailing=tuple(_flags(self.name, align_corners=align_corners).values()))
