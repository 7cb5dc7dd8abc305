"""MindSpore's ``mint.nn.functional``, as far as its CPU computes it (measured); the other names raise when they are
used."""

from __future__ import annotations

from typing import Any

from harness.framework.mint.functions import flatten, ops, softmax
from harness.framework.names import fallback as _fallback
from harness.framework.tensor import differentiated_outside

__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "dropout", "flatten", "glu", "interpolate", "nll_loss",
    "silu", "smooth_l1_loss", "softmax", "softplus",
]  # fmt: skip

binary_cross_entropy = ops.binary_cross_entropy
interpolate = ops.interpolate


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
