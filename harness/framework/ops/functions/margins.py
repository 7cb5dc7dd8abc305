"""Losses of margins and of likelihoods, and those of several labels.

Source: which operators each is made of, in which order: MindSpore 2.10.0 graphs, measured.
"""

from __future__ import annotations

import math
from typing import Any

from harness.errors import DtypeError, SettingAttributeError, SettingError, SettingTypeError, ShapeError
from harness.framework.ops.functions.math import log
from harness.framework.tensor import Tensor, call

__all__ = [
    "cosine_embedding_loss", "gaussian_nll_loss", "hinge_embedding_loss", "margin_ranking_loss", "multi_margin_loss",
    "multilabel_soft_margin_loss", "soft_margin_loss", "triplet_margin_loss",
]  # fmt: skip


def _check_reduction(owner: str, reduction: Any) -> None:
    if reduction not in ("mean", "sum", "none"):
        raise SettingError(f"{owner}: reduction must be 'mean', 'sum' or 'none', got {reduction!r}")


def reduced(loss: Any, reduction: str, owner: str) -> Any:
    """The mean or the sum of all elements, or ``loss`` itself."""
    _check_reduction(owner, reduction)
    return loss.mean() if reduction == "mean" else loss.sum() if reduction == "sum" else loss


def over_all(loss: Any, reduction: str, owner: str) -> Any:
    """As ``reduced``, by operators that list the axes."""
    _check_reduction(owner, reduction)
    axes = tuple(range(len(loss.shape)))
    if reduction == "none":
        return loss
    return call("ReduceMean", loss, axes, False) if reduction == "mean" else call("ReduceSum", loss, axes, False, False)


def margin_ranking_loss(input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: str = "mean") -> Any:
    """max(0, -target * (input1 - input2) + margin)."""
    loss = call("ClampScalar", -target * (input1 - input2) + margin, 0, None)
    return over_all(loss, reduction, "margin_ranking_loss")


def hinge_embedding_loss(inputs: Any, targets: Any, margin: float = 1.0, reduction: str = "mean") -> Any:
    """``inputs`` where the target is above 0, max(0, margin - inputs) where it is below."""
    for name, value in (("inputs", inputs), ("targets", targets)):
        if not isinstance(value, Tensor):
            raise SettingAttributeError(f"hinge_embedding_loss: {name} must be a Tensor, got {type(value).__name__}")
        if not value.dtype.is_floating:
            raise DtypeError(f"hinge_embedding_loss: {name} must be floats, got {value.dtype.name}")
    near, apart = targets > 0, targets < 0
    loss = call("Mul", near, inputs) + call("Maximum", call("Mul", margin, apart) - call("Mul", apart, inputs), 0)
    return reduced(loss, reduction, "hinge_embedding_loss")


def gaussian_nll_loss(
    x: Any, target: Any, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Any:
    """(log(var) + (x - target) ** 2 / var) / 2, of a variance of at least ``eps``; ``full`` adds log(2 pi) / 2.

    Raises ``SettingError`` unless ``eps`` is a float above 0, ``SettingTypeError`` unless ``full`` is a bool.
    """
    if not isinstance(full, bool):
        raise SettingTypeError(f"gaussian_nll_loss: full must be a bool, got {full!r}")
    if not isinstance(eps, float) or eps <= 0:
        raise SettingError(f"gaussian_nll_loss: eps must be a float above 0, got {eps!r}")
    bounded = call("Maximum", var, eps)
    apart = call("Square", x - target)
    loss = 0.5 * (log(bounded) + call("Div", apart, bounded))
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return reduced(loss, reduction, "gaussian_nll_loss")


def multi_margin_loss(
    input: Tensor, target: Tensor, p: int = 1, margin: float = 1, weight: Tensor | None = None, reduction: str = "mean"
) -> Any:
    """The sum over the other classes of max(0, margin - input[target] + input[other]) ** p over the number of classes.

    Args:
        input: scores (n, c), float16, float32 or float64.
        target: a class for each example (n,), int64.
        p: 1 or 2.
        margin: the distance wanted.
        weight: (c,), of the target's class; ones if None.
        reduction: ``mean``, ``sum`` or ``none``.
    """
    return call("MultiMarginLoss", input, target, weight, **margin_attrs(p, margin, reduction))


def margin_attrs(p: int, margin: float, reduction: str) -> dict[str, Any]:
    """Attributes of MultiMarginLoss.

    Raises:
        SettingError: a power other than 1 and 2, or an unknown reduction.
    """
    _check_reduction("multi_margin_loss", reduction)
    if p not in (1, 2):
        raise SettingError(f"multi_margin_loss: p must be 1 or 2, got {p!r}")
    return {
        "p": p, "input_names": ["x", "target", "weight"], "margin": float(margin), "reduction": reduction,
        "output_names": ["y"],
    }  # fmt: skip


def multilabel_soft_margin_loss(input: Any, target: Any, weight: Tensor | None = None, reduction: str = "mean") -> Any:
    """The mean over the classes (n, c) of cross entropies of sigmoid(input) against labels of 0 and 1."""
    if tuple(input.shape) != tuple(target.shape):
        raise ShapeError(f"multilabel_soft_margin_loss: scores {input.shape} and labels {target.shape} must be alike")
    present = call("Mul", target, log(call("Exp", call("Neg", input)) + 1))
    absent = call("Mul", 1 - target, log(call("Exp", input) + 1))
    loss = present + absent
    if weight is not None:
        loss = call("Mul", loss, weight)
    classes = input.shape[-1]
    return over_all(loss.sum(axis=len(input.shape) - 1) / classes, reduction, "multilabel_soft_margin_loss")


def triplet_margin_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    """max(0, distance to ``positive`` - distance to ``negative`` + margin); ``swap`` also takes the distance between
    those two."""

    def distance(a: Any, b: Any) -> Any:
        return ((a - b + eps).abs() ** p).sum(-1) ** (1 / p)

    far = distance(anchor, negative)
    if swap:
        far = call("Minimum", far, distance(positive, negative))
    return reduced(call("Maximum", distance(anchor, positive) - far + margin, 0), reduction, "triplet_margin_loss")


def soft_margin_loss(input: Any, target: Any, reduction: str = "mean") -> Any:
    """log(1 + exp(-target * input))."""
    return reduced(((-target * input).exp() + 1).log(), reduction, "soft_margin_loss")


def cosine_embedding_loss(input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: str = "mean") -> Any:
    """1 - cosine for a target of 1, max(0, cosine - margin) for -1; along the last axis."""
    products = (input1 * input2).sum(-1)
    cosine = products / (((input1 * input1).sum(-1) + 1e-12) * ((input2 * input2).sum(-1) + 1e-12)).sqrt()
    loss = call("Select", target == 1, 1 - cosine, call("Maximum", cosine - margin, 0))
    return reduced(loss, reduction, "cosine_embedding_loss")
