"""``interpolate``: a tensor resized along its last axes.

Source of modes, their operators and refusals: MindSpore 2.10.0, measured.
"""

from __future__ import annotations

import math
from typing import Any

from harness.errors import SettingError, SettingTypeError, UnsupportedError
from harness.framework.ops.operators.resize import ALIGN, HALF
from harness.framework.tensor import call

__all__ = ["crop_and_resize", "interpolate"]

#: mode: ranks of tensors it takes
_RANKS = {"nearest": (3, 4), "linear": (3,), "bilinear": (4,), "area": (3, 4)}
_KNOWN = ("nearest", "linear", "bilinear", "trilinear", "bicubic", "area", "nearest-exact")


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
        scale_factor: a number, or one for each axis; only with ``recompute_scale_factor``.
        mode: ``nearest``, ``linear``, ``bilinear`` or ``area``; others are not supported.
        align_corners: whether the outer elements stay the outer ones; for ``linear`` and ``bilinear``.
        recompute_scale_factor: the size is computed of the factor first.
    """
    if mode not in _KNOWN:
        raise SettingError(f"interpolate: mode must be one of {list(_KNOWN)}, got {mode!r}")
    if mode not in _RANKS:
        raise UnsupportedError(f"interpolate(mode={mode!r}) is not supported; there are {sorted(_RANKS)}")
    rank = len(input.shape)
    if rank not in _RANKS[mode]:
        raise SettingError(f"interpolate: mode {mode!r} takes tensors of {_RANKS[mode]} axes, got {rank}")
    if mode in ("nearest", "area") and align_corners is not None:
        raise SettingError(f"interpolate: align_corners has no meaning for mode {mode!r}")
    sides = _sides(tuple(input.shape)[2:], size, scale_factor, recompute_scale_factor)
    return _resized(input, sides, mode, bool(align_corners))


def _resized(x: Any, sides: tuple[int, ...], mode: str, align: bool) -> Any:
    if mode == "linear":
        return call("ResizeLinear1D", x, sides, ALIGN if align else HALF)
    if mode == "bilinear":
        return call("ResizeBilinearV2", x, sides, align, not align)
    flat = len(x.shape) == 3
    picture = call("ExpandDims", x, -1) if flat else x
    around = (*sides, 1) if flat else sides
    if mode == "area":
        attrs: dict[str, Any] = {"output_names": ["y"], "output_size": around, "input_names": ["x"]}
        out = call("AdaptiveAvgPool2D", picture, **attrs)
    else:
        out = call("ResizeNearestNeighborV2", picture, around, False, False)
    return call("Squeeze", out, (3,)) if flat else out


def _sides(given: tuple[int, ...], size: Any, factor: Any, recompute: Any) -> tuple[int, ...]:
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
        return sides
    factors = (factor,) * len(given) if isinstance(factor, (int, float)) else tuple(factor)
    if len(factors) != len(given):
        raise SettingTypeError(f"interpolate: scale_factor must be a number or {len(given)} of them, got {factor!r}")
    if not recompute:
        raise UnsupportedError("interpolate(scale_factor=...) is supported with recompute_scale_factor=True only; "
                               "give size")  # fmt: skip
    return tuple(math.floor(n * f) for n, f in zip(given, factors, strict=True))


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
