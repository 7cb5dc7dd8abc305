"""``interpolate``: a tensor resized along its last axes.

Source of modes, their operators and refusals: MindSpore 2.10.0, measured.
"""

from __future__ import annotations

import math
from typing import Any

from harness.errors import SettingError, SettingTypeError
from harness.framework.ops.operators.resize import ALIGN, HALF
from harness.framework.tensor import call

__all__ = ["crop_and_resize", "interpolate", "upsample"]

#: mode: ranks of tensors it takes
_RANKS = {
    "nearest": (3, 4, 5), "linear": (3,), "bilinear": (4,), "trilinear": (5,), "bicubic": (4,), "area": (3, 4, 5),
    "nearest-exact": (3, 4),
}  # fmt: skip
#: modes for which ``align_corners`` has a meaning
_ALIGNED = ("linear", "bilinear", "trilinear", "bicubic")


def interpolate(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
) -> Any:
    """``input`` (n, c, ...) resized.

    Args:
        size: an int, or one for each axis after the second; excludes ``scale_factor``.
        scale_factor: a number, or one for each axis; only with ``recompute_scale_factor``, for ``area``, and for
            ``nearest`` and ``trilinear`` of volumes.
        mode: ``nearest``, ``linear``, ``bilinear``, ``trilinear``, ``bicubic``, ``area`` or ``nearest-exact``.
        align_corners: whether the outer elements stay the outer ones; for the linear and cubic modes.
        recompute_scale_factor: the size is computed of the factor first.
    """
    if mode not in _RANKS:
        raise SettingError(f"interpolate: mode must be one of {list(_RANKS)}, got {mode!r}")
    rank = len(input.shape)
    if rank not in _RANKS[mode]:
        raise SettingError(f"interpolate: mode {mode!r} takes tensors of {_RANKS[mode]} axes, got {rank}")
    if mode not in _ALIGNED and align_corners is not None:
        raise SettingError(f"interpolate: align_corners has no meaning for mode {mode!r}")
    given = tuple(input.shape)[2:]
    sides, factors = interpolated_sides(given, size, scale_factor, recompute_scale_factor)
    if sides is None and mode != "area" and rank != 5:
        raise SettingError(
            f"interpolate: with mode {mode!r} and {rank} axes scale_factor takes recompute_scale_factor=True; give size"
        )
    if mode in ("nearest", "trilinear") and rank == 5:
        return _volume(input, sides, factors, mode, bool(align_corners))
    if sides is None:
        sides = _scaled(given, factors)
    return _resized(input, sides, mode, bool(align_corners))


def _volume(x: Any, sides: Any, factors: Any, mode: str, align: bool) -> Any:
    if mode == "nearest":
        return call("UpsampleNearest3D", x, sides, factors)
    return call("UpsampleTrilinear3D", x, sides, factors, align)


def _resized(x: Any, sides: tuple[int, ...], mode: str, align: bool) -> Any:
    if mode == "bicubic":
        return call("ResizeBicubic", x, sides, align, not align)
    if mode == "linear":
        return call("ResizeLinear1D", x, sides, ALIGN if align else HALF)
    if mode == "bilinear":
        return call("ResizeBilinearV2", x, sides, align, not align)
    if mode == "area" and len(sides) == 3:
        return call("AdaptiveAvgPool3D", x, output_names=["y"], output_size=sides, input_names=["x"])
    flat = len(x.shape) == 3
    picture = call("ExpandDims", x, -1) if flat else x
    around = (*sides, 1) if flat else sides
    if mode == "area":
        attrs: dict[str, Any] = {"output_names": ["y"], "output_size": around, "input_names": ["x"]}
        out = call("AdaptiveAvgPool2D", picture, **attrs)
    else:
        out = call("ResizeNearestNeighborV2", picture, around, False, mode == "nearest-exact")
    return call("Squeeze", out, (3,)) if flat else out


def _scaled(given: tuple[int, ...], factors: tuple[float, ...]) -> tuple[int, ...]:
    return tuple(math.floor(n * f) for n, f in zip(given, factors, strict=True))


def interpolated_sides(
    given: tuple[int, ...], size: Any, factor: Any, recompute: Any
) -> tuple[tuple[int, ...] | None, Any]:
    """The sizes, or None and the factors to be taken as they are."""
    if recompute is not None and not isinstance(recompute, bool):
        raise SettingTypeError(f"interpolate: recompute_scale_factor must be a bool, got {type(recompute).__name__}")
    if recompute and size is not None:
        raise SettingError("interpolate: recompute_scale_factor is for scale_factor, not for size")
    if (size is None) == (factor is None):
        raise SettingError("interpolate takes one of size and scale_factor")
    if size is not None:
        sides = (size,) * len(given) if isinstance(size, int) else tuple(size)
        if len(sides) != len(given) or any(isinstance(n, bool) or not isinstance(n, int) or n < 1 for n in sides):
            raise SettingError(f"interpolate: size must be {len(given)} ints above 0, got {size!r}")
        return sides, None
    factors = (factor,) * len(given) if isinstance(factor, (int, float)) else tuple(factor)
    if len(factors) != len(given):
        raise SettingTypeError(f"interpolate: scale_factor must be a number or {len(given)} of them, got {factor!r}")
    return (_scaled(given, factors), None) if recompute else (None, tuple(float(f) for f in factors))


def crop_and_resize(
    image: Any,
    boxes: Any,
    box_indices: Any,
    crop_size: tuple[int, int],
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
) -> Any:
    """The parts ``boxes`` (m, 4) of images (n, h, w, c), each of its own image, at one size; ``extrapolation_value``
    outside."""
    attrs: dict[str, Any] = {
        "output_names": ["y"], "method": method, "input_names": ["x", "boxes", "box_index", "crop_size"],
        "extrapolation_value": extrapolation_value,
    }  # fmt: skip
    return call("CropAndResize", image, boxes, box_indices, crop_size, **attrs)


def upsample(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
) -> Any:
    """``interpolate`` under another name."""
    return interpolate(input, size, scale_factor, mode, align_corners, recompute_scale_factor)
