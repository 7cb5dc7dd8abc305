"""MindSpore's ``mint.nn.functional``, as far as its CPU computes it (measured); the other names raise when they are
used."""

from __future__ import annotations

from typing import Any

from harness.errors import KernelError, SettingError
from harness.framework.mint.functions import flatten, ops, softmax
from harness.framework.names import fallback as _fallback
from harness.framework.ops.functions.resize import interpolated_sides
from harness.framework.tensor import call, differentiated_outside

__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "dropout", "flatten", "glu", "interpolate", "nll_loss",
    "pixel_shuffle", "silu", "smooth_l1_loss", "softmax", "softplus", "upsample",
]  # fmt: skip

binary_cross_entropy = ops.binary_cross_entropy


def interpolate(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
) -> Any:
    """``input`` (n, c, ...) resized to ``size`` or by ``scale_factor``, by the nearest element, or for volumes by
    ``trilinear``; MindSpore's CPU has no kernel for the other modes.

    Raises:
        SettingError: an unknown mode, another number of axes, or not one of ``size`` and ``scale_factor``.
        KernelError: a mode without a CPU kernel.
    """
    axes = len(input.shape) - 2
    if mode in ("linear", "bilinear", "bicubic") and axes == {"linear": 1}.get(mode, 2):
        raise KernelError(f"mint.nn.functional.interpolate(mode={mode!r}): MindSpore's CPU has no kernel for it")
    if mode not in ("nearest", "trilinear") or not 1 <= axes <= 3 or (mode == "trilinear" and axes != 3):
        raise SettingError(f"interpolate: mode {mode!r} does not take tensors of {axes + 2} axes")
    if mode == "nearest" and align_corners is not None:
        raise SettingError("interpolate: align_corners has no meaning for mode 'nearest'")
    sides, factors = interpolated_sides(tuple(input.shape)[2:], size, scale_factor, recompute_scale_factor)
    if mode == "nearest":
        return call(f"UpsampleNearest{axes}D", input, sides, factors)
    return call("UpsampleTrilinear3D", input, sides, factors, bool(align_corners))


def binary_cross_entropy_with_logits(
    input: Any, target: Any, weight: Any = None, reduction: str = "mean", pos_weight: Any = None
) -> Any:
    """The cross entropy of ``target`` and the sigmoid of ``input``."""
    return ops.binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction)


def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Elements dropped with probability ``p``, others divided by ``1 - p``."""
    return ops.dropout(input, p, training)


def glu(input: Any, dim: int = -1) -> Any:
    """The first half along ``dim`` times the sigmoid of the second."""
    return ops.glu(input, dim)


def nll_loss(input: Any, target: Any, weight: Any = None, ignore_index: int = -100, reduction: str = "mean") -> Any:
    """The negative of the chosen logarithms; of (N, C) by one operator."""
    if len(input.shape) != 2:
        return ops.nll_loss(input, target, weight, ignore_index, reduction)
    each = ops.ones(input.shape[1], input.dtype) if weight is None else weight
    loss: Any = ops.NLLLoss(reduction, ignore_index)(input, target, each)[0]
    return differentiated_outside(loss)


def pixel_shuffle(input: Any, upscale_factor: int) -> Any:
    """Channels (..., C * r * r, H, W) as pixels (..., C, H * r, W * r)."""
    return ops.pixel_shuffle(input, upscale_factor)


def upsample(
    input: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Any:
    """See ``interpolate``."""
    return interpolate(input, size, scale_factor, mode, align_corners)


def silu(input: Any, inplace: bool = False) -> Any:
    """x times its sigmoid."""
    return ops.silu(input)


def smooth_l1_loss(input: Any, target: Any, reduction: str = "mean", beta: float = 1.0) -> Any:
    """Half the square of the distance over ``beta`` up to it, a straight line beyond."""
    return ops.smooth_l1_loss(input, target, beta, reduction)


def softplus(input: Any, beta: float = 1, threshold: float = 20) -> Any:
    """log(1 + e ** (beta x)) / beta, and x itself where beta x is above ``threshold``."""
    return ops.softplus(input, beta, threshold)


__getattr__ = _fallback(__name__)
