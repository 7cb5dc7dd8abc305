"""Values at the places of a grid, grids of affine maps, and choices that are drawn softly."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import DtypeError, SettingError, SettingTypeError, ShapeError
from harness.framework.ops.functions.indexing import stop_gradient
from harness.framework.ops.functions.random import uniform
from harness.framework.ops.functions.search import argmax
from harness.framework.tensor import Tensor, call

__all__ = ["affine_grid", "grid_sample", "gumbel_softmax"]

_MODES = {"bilinear": 0, "nearest": 1}
_PADDINGS = {"zeros": 0, "border": 1, "reflection": 2}


def _number(value: Any, known: dict[str, int], name: str) -> int:
    if not isinstance(value, str):
        raise SettingTypeError(f"grid_sample: {name} must be a str, got {value!r}")
    if value not in known:
        raise SettingError(f"grid_sample: {name} must be one of {', '.join(known)}, got {value!r}")
    return known[value]


def settings(mode: Any, padding_mode: Any) -> tuple[int, int]:
    """The numbers of a mode and of what stands outside."""
    return _number(mode, _MODES, "mode"), _number(padding_mode, _PADDINGS, "padding_mode")


def grid_sample(
    input: Any, grid: Any, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Any:
    """The values of pictures (n, c, h, w) or volumes (n, c, d, h, w) at the places ``grid`` (n, ..., 2 or 3) names:
    -1 and 1 are the edges, or with ``align_corners`` the middles of the first and last elements."""
    numbers = settings(mode, padding_mode)
    aligned = False if align_corners is None else align_corners
    if not isinstance(aligned, bool):
        raise SettingTypeError(f"grid_sample: align_corners must be a bool, got {align_corners!r}")
    return call("GridSampler2D" if len(input.shape) == 4 else "GridSampler3D", input, grid, *numbers, aligned)


def affine_grid(theta: Any, size: Any, align_corners: bool = False) -> Any:
    """The places (n, h, w, 2) that maps ``theta`` (n, 2, 3) give to pictures of ``size`` (n, c, h, w), as
    ``grid_sample`` takes them; or those of volumes, (n, 3, 4) and five numbers."""
    if not isinstance(align_corners, bool):
        raise SettingTypeError(f"affine_grid: align_corners must be a bool, got {align_corners!r}")
    if not isinstance(size, (tuple, list)):
        raise SettingTypeError(f"affine_grid: size must be a tuple, got {type(size).__name__}")
    names: dict[str, Any] = {"output_names": ["y"], "input_names": ["theta", "output_size"]}
    return call("AffineGrid", theta, tuple(size), **names, align_corners=align_corners)


def _check_gumbel(logits: Any, tau: Any, hard: Any, dim: Any) -> None:
    if not isinstance(logits, Tensor):
        raise DtypeError(f"gumbel_softmax: logits must be a tensor, got {type(logits).__name__}")
    rank = len(logits.shape)
    if not rank:
        raise ShapeError("gumbel_softmax: logits must have at least one dimension")
    if logits.dtype not in (dtypes.float16, dtypes.float32):
        raise DtypeError(f"gumbel_softmax: logits must be Float16 or Float32, got {logits.dtype}")
    for value, kind, name in ((tau, float, "tau"), (hard, bool, "hard"), (dim, int, "dim")):
        if type(value) is not kind:
            raise SettingTypeError(f"gumbel_softmax: {name} must be a {kind.__name__}, got {value!r}")
    if not tau > 0:
        raise SettingError(f"gumbel_softmax: tau must be above 0, got {tau}")
    low = -1 if hard else -rank
    if not low <= dim < rank:
        raise SettingError(f"gumbel_softmax: dim must be in [{low}, {rank}), got {dim}")


def gumbel_softmax(logits: Any, tau: float = 1.0, hard: bool = False, dim: int = -1) -> Any:
    """The softmax along ``dim`` of ``logits`` with drawn noise, over ``tau``; ``hard``: 1 at the largest, 0 elsewhere,
    with the gradient of the soft one.

    Raises:
        DtypeError, ShapeError, SettingError, SettingTypeError: logits or a setting is not one of these.
    """
    _check_gumbel(logits, tau, hard, dim)
    low, high = (Tensor(np.asarray(value, np.float32)) for value in (0.0, 1.0))
    drawn = uniform(logits.shape, low, high)
    if logits.dtype is not dtypes.float32:
        drawn = call("Cast", drawn, logits.dtype)
    noise = drawn
    for _ in range(2):
        noise = call("Neg", _log(noise))
    soft = call("Softmax", (logits + noise) / tau, (dim,))
    if not hard:
        return soft
    one, zero = (Tensor(np.asarray(value, logits.dtype.numpy), logits.dtype) for value in (1, 0))
    chosen = call("OneHot", argmax(soft, dim), logits.shape[dim], one, zero, dim)
    return stop_gradient(chosen - soft) + soft


def _log(x: Any) -> Any:
    return call("Log", x, shift=0.0, scale=1.0, cust_aicpu="Log", base=-1.0)
