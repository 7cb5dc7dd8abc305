"""MindSpore's ``mint.nn.functional``, as far as its CPU computes it (measured); the other names raise when they are
used."""

from __future__ import annotations

from functools import partial
from typing import Any

from harness.errors import KernelError, SettingError, ShapeError
from harness.framework.mint.functions import flatten, ops
from harness.framework.mint.functions import softmax as _softmax
from harness.framework.mint.within import within_graphs
from harness.framework.names import fallback as _fallback
from harness.framework.ops.expansion import scalar
from harness.framework.ops.functions.resize import interpolated_sides
from harness.framework.ops.functions.shape import as_dtype
from harness.framework.ops.primitives.nn import reduction_setting
from harness.framework.tensor import call, differentiated_outside, graph_function

__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "cross_entropy", "dropout", "dropout2d", "flatten",
    "glu", "interpolate", "log_softmax", "nll_loss", "one_hot", "pad", "pixel_shuffle", "silu",
    "smooth_l1_loss", "softmax", "softplus", "upsample",
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


def dropout2d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """``input`` itself outside of training; MindSpore's CPU has no kernel that drops channels.

    Raises:
        KernelError: while training.
    """
    if training:
        raise KernelError("mint.nn.functional.dropout2d has no CPU kernel; use ops.dropout2d")
    return input


def _softmax_axis(dim: Any, rank: int) -> int:
    """The axis of a softmax: without one the first of 0, 1 or 3 axes, else the second."""
    return dim if dim is not None else 0 if rank in (0, 1, 3) else 1


def softmax(input: Any, dim: Any = None, dtype: Any = None) -> Any:
    """Powers of e over their sum along ``dim``."""
    return _softmax(input, _softmax_axis(dim, len(input.shape)), dtype=dtype)


@within_graphs("mint.nn.functional.log_softmax", "ops.log_softmax")
def log_softmax(input: Any, dim: Any = None, *, dtype: Any = None) -> Any:
    """The logarithm of ``softmax``."""
    axis = _softmax_axis(dim, len(input.shape))
    return call("LogSoftmaxExt", input, axis, None if dtype is None else as_dtype(dtype))


@within_graphs("mint.nn.functional.one_hot", "ops.one_hot")
def one_hot(tensor: Any, num_classes: int = -1) -> Any:
    """A last axis of length ``num_classes`` with 1 at each index, in the dtype of ``tensor``."""
    return call("OneHotExt", tensor, num_classes)


def pad(input: Any, pad: Any, mode: str = "constant", value: Any = None) -> Any:
    """Elements around ``input``, pairs of numbers from its last axis on; negative ones cut. Modes ``constant`` (in
    graphs alone) and ``circular``; MindSpore's CPU computes no others.

    Raises:
        SettingError: another mode, or a value that goes with none.
        KernelError: a mode that no CPU kernel computes.
    """
    if not isinstance(pad, (tuple, list)):
        raise TypeError(f"pad: a tuple or list of ints is needed, got {pad!r}")
    if not pad:
        return input
    if mode == "constant":
        return _around(input, tuple(pad), 0 if value is None else value)
    if mode not in ("circular", "reflect", "replicate"):
        raise SettingError(f"pad: mode must be constant, circular, reflect or replicate, got {mode!r}")
    if value is not None:
        raise SettingError(f"pad: a value goes with mode 'constant' only, got {value!r} with {mode!r}")
    if mode != "circular":
        raise KernelError(f"mint.nn.functional.pad(mode={mode!r}) has no CPU kernel; use ops.pad")
    pairs, rank = len(pad) // 2, len(input.shape)
    if rank - pairs not in (1, 2):
        raise ShapeError(f"pad: {len(pad)} numbers go with {pairs + 1} or {pairs + 2} axes, got {rank}")
    if rank == pairs + 1:
        return ops.squeeze(ops.pad(ops.expand_dims(input, 0), pad, "circular"), 0)
    return ops.pad(input, pad, "circular")


@within_graphs("mint.nn.functional.pad(mode='constant')", "ops.pad")
def _around(input: Any, pad: tuple[int, ...], value: Any) -> Any:
    return call("ConstantPadND", input, pad, value)


@within_graphs("mint.nn.functional.cross_entropy", "ops.cross_entropy")
def cross_entropy(
    input: Any, target: Any, weight: Any = None, ignore_index: int = -100, reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:  # fmt: skip
    """The cross entropy of scores (C,) or (N, C, ...) and labels: probabilities like the scores, or classes (N,) of
    (N, C) scores.

    Raises:
        KernelError: classes with smoothing, or of scores of more axes, which no CPU kernel computes.
    """
    reduction_setting("cross_entropy", reduction)
    if target.dtype.is_floating:
        return _of_probabilities(input, target, weight, reduction, label_smoothing)
    if label_smoothing or len(input.shape) != 2:
        raise KernelError("mint.nn.functional.cross_entropy: of classes a CPU kernel takes scores (N, C), unsmoothed")
    return _of_classes(input, target, weight, ignore_index, reduction)


@partial(graph_function, "mint.nn.functional.cross_entropy, classes")
def _of_classes(input: Any, target: Any, weight: Any, ignore_index: int, reduction: str) -> Any:
    return nll_loss(log_softmax(input, 1), target, weight, ignore_index, reduction)


@partial(graph_function, "mint.nn.functional.cross_entropy, probabilities")
def _of_probabilities(input: Any, target: Any, weight: Any, reduction: str, smoothing: float) -> Any:
    axis = 0 if len(input.shape) == 1 else 1
    classes = input.shape[axis]
    if smoothing:
        target = target * (1 - smoothing) + smoothing / classes
    product = log_softmax(input, axis) * target
    if weight is not None:
        behind = (1,) * (len(input.shape) - axis - 1)
        product = product * (weight.reshape((-1, *behind)) if behind else weight)
    if reduction == "none":
        return -product.sum(axis)
    total = product.sum()
    return -(call("Div", total, scalar(input.size // classes, total.dtype)) if reduction == "mean" else total)


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
