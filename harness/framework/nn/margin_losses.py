"""Losses of margins, of likelihoods and of rare classes, with the operators that MindSpore 2.10.0 emits (measured)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from harness import dtypes
from harness.errors import DtypeError, SettingError, SettingTypeError, ShapeError
from harness.framework.nn import checks
from harness.framework.nn.activation import LogSoftmax, get_activation
from harness.framework.nn.cell import Cell
from harness.framework.nn.losses import LossBase
from harness.framework.nn.more_losses import DiceLoss
from harness.framework.nn.namespace import ops
from harness.framework.ops.functions.margins import multi_margin_loss
from harness.framework.ops.functions.norms import lp_norm
from harness.framework.tensor import Tensor

__all__ = [
    "FocalLoss", "GaussianNLLLoss", "HingeEmbeddingLoss", "MultiClassDiceLoss", "MultiLabelSoftMarginLoss",
    "MultiMarginLoss", "PoissonNLLLoss", "SoftMarginLoss", "TripletMarginLoss", "TripletMarginWithDistanceLoss",
]  # fmt: skip


class HingeEmbeddingLoss(LossBase):
    """The distance of pairs that belong together (label 1), max(0, margin - distance) of others (-1)."""

    def __init__(self, margin: float = 1.0, reduction: str = "mean") -> None:
        super().__init__()
        self.margin = checks.number(margin, "margin", self.cls_name)
        self.reduction = reduction

    def construct(self, logits: Any, labels: Any) -> Any:
        if not labels.dtype.is_floating:
            raise DtypeError(f"{self.cls_name}: labels must be floats, got {labels.dtype.name}")
        return ops.hinge_embedding_loss(logits, labels, self.margin, self.reduction)


class SoftMarginLoss(LossBase):
    """log(1 + exp(-label * logit))."""

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = reduction

    def construct(self, logits: Any, labels: Any) -> Any:
        return ops.soft_margin_loss(logits, labels, self.reduction)


class PoissonNLLLoss(LossBase):
    """exp(input) - target * input, of the rate's logarithm (``log_input``) or of the rate; ``full`` adds Stirling's
    approximation for targets above 1."""

    def __init__(self, log_input: bool = True, full: bool = False, eps: float = 1e-08, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.log_input = log_input
        self.full = full
        self.eps = eps

    def construct(self, input: Any, target: Any) -> Any:
        target = target if target.dtype is input.dtype else ops.cast(target, input.dtype)
        if self.log_input:
            loss = ops.Exp()(input) - target * input
        else:
            loss = input - target * ops.Log()(input + self.eps)
        if self.full:
            target = ops.Maximum()(target, self.eps)
            many = (target > 1) * ((target + 0.5) * ops.Log()(target) - target + 0.5 * math.log(2 * math.pi))
            loss += ops.masked_fill(many, target <= 1, Tensor(0, dtypes.float32))
        return self.get_loss(loss)


class GaussianNLLLoss(LossBase):
    """(log(var) + (logits - labels) ** 2 / var) / 2, of a variance of at least ``eps``."""

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__()
        if eps <= 0:
            raise SettingError(f"{self.cls_name}: eps must be above 0, got {eps!r}")
        self.full = checks.boolean(full, "full", self.cls_name)
        self.eps = eps
        self.reduction = reduction

    def construct(self, logits: Any, labels: Any, var: Any) -> Any:
        return ops.gaussian_nll_loss(logits, labels, var, self.full, self.eps, self.reduction)


class MultiMarginLoss(LossBase):
    """Distances of the other classes' scores (N, C) from the target's (N,)."""

    def __init__(self, p: int = 1, margin: float = 1.0, reduction: str = "mean", weight: Any = None) -> None:
        super().__init__()
        self.p = p
        if not isinstance(margin, float):
            raise SettingTypeError(f"{self.cls_name}: margin must be a float, got {margin!r}")
        self.margin = margin
        self.reduction = reduction
        self.weight = weight

    def construct(self, x: Any, target: Any, weight: Any = None) -> Any:
        if target.dtype.name != "Int64":
            raise DtypeError(f"{self.cls_name}: the target must be Int64, got {target.dtype.name}")
        weight = self.weight if weight is None else weight
        if weight is None:
            weight = Tensor(np.ones(x.shape[1]), x.dtype)
        return multi_margin_loss(x, target, self.p, self.margin, weight, self.reduction)


class MultiLabelSoftMarginLoss(LossBase):
    """The mean over the classes (N, C) of cross entropies against labels of 0 and 1."""

    def __init__(self, weight: Any = None, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.weight = weight

    def construct(self, x: Any, target: Any) -> Any:
        return ops.multilabel_soft_margin_loss(x, target, self.weight, self.reduction)


class TripletMarginLoss(LossBase):
    """max(0, distance to ``positive`` - distance to ``negative`` + margin)."""

    def __init__(
        self, p: int = 2, swap: bool = False, eps: float = 1e-6, reduction: str = "mean", margin: float = 1.0
    ) -> None:
        super().__init__()
        self.p = p
        self.swap = swap
        self.eps = eps
        self.reduction = reduction
        self.margin = margin

    def construct(self, x: Any, positive: Any, negative: Any, margin: float | None = None) -> Any:
        checks.one_dtype(self.cls_name, x, positive, negative)
        margin = self.margin if margin is None else margin
        return ops.triplet_margin_loss(x, positive, negative, margin, self.p, self.eps, self.swap, self.reduction)


class TripletMarginWithDistanceLoss(LossBase):
    """max(0, distance to ``positive`` - distance to ``negative`` + margin), with any distance of two tensors."""

    def __init__(
        self,
        distance_function: Callable[[Any, Any], Any] | None = None,
        swap: bool = False,
        reduction: str = "mean",
        margin: float = 1.0,
    ) -> None:
        super().__init__(reduction)
        self.distance_function = self._apart if distance_function is None else distance_function
        self.swap = checks.boolean(swap, "swap", self.cls_name)
        self.margin = checks.number(margin, "margin", self.cls_name, 0)

    def _apart(self, x: Any, y: Any) -> Any:
        """The Euclidean distance along axis 1."""
        return lp_norm(abs(x - y), [1], 2)

    def construct(self, x: Any, positive: Any, negative: Any) -> Any:
        near, far = self.distance_function(x, positive), self.distance_function(x, negative)
        if self.swap:
            far = ops.Minimum()(far, self.distance_function(positive, negative))
        return self.get_loss(ops.Maximum()(near - far + self.margin, 0))


class FocalLoss(LossBase):
    """Cross entropy of (N, C, ...) that well classified examples count less in: times (1 - p) ** gamma.

    Args:
        weight: (C,), or None.
        gamma: 0 gives the plain cross entropy.
        reduction: ``mean``, ``sum`` or ``none``.
    """

    def __init__(self, weight: Any = None, gamma: float = 2.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        if weight is not None and not isinstance(weight, Tensor):
            raise SettingTypeError(f"{self.cls_name}: weight must be a Tensor, got {type(weight).__name__}")
        if weight is not None and len(weight.shape) != 1:
            raise SettingError(f"{self.cls_name}: weight must have one axis, got shape {weight.shape}")
        self.weight: Any = weight
        self.gamma = checks.number(gamma, "gamma", self.cls_name)
        self.logsoftmax = LogSoftmax(1)

    def construct(self, logits: Any, labels: Any) -> Any:
        self._check(logits, labels)
        if len(logits.shape) > 2:
            logits = ops.Reshape()(logits, (*logits.shape[:2], -1))
            labels = ops.Reshape()(labels, (*labels.shape[:2], -1))
        else:
            logits, labels = ops.ExpandDims()(logits, 2), ops.ExpandDims()(labels, 2)
        logs = self.logsoftmax(logits)
        chosen = labels.shape[1] == 1
        if chosen:
            labels = ops.Cast()(labels, dtypes.int32)
            logs = ops.Squeeze(1)(ops.GatherD()(logs, 1, labels))
        apart = ops.Pow()(-1 * ops.exp(logs) + 1, self.gamma)
        logs = logs if self.weight is None else self._weighted(logs, logits, labels)
        if chosen:
            loss = (-1 * apart * logs).mean(axis=1)
        else:
            loss = (-1 * apart * labels * logs).mean(axis=-1)
        return self.get_loss(loss)

    def _weighted(self, logs: Any, logits: Any, labels: Any) -> Any:
        """``logs`` times the weight of their classes."""
        weight = ops.Tile()(self.weight[None, :, None], (logits.shape[0], 1, logits.shape[2]))
        if labels.shape[1] == 1:
            weight = ops.Squeeze(1)(ops.GatherD()(weight, 1, labels))
        return logs * weight

    def _check(self, logits: Any, labels: Any) -> None:
        if len(logits.shape) != len(labels.shape) or len(logits.shape) not in (2, 3, 4):
            raise ShapeError(f"{self.cls_name}: logits and labels must have 2, 3 or 4 axes, and as many as each other, "
                             f"got {logits.shape} and {labels.shape}")  # fmt: skip
        if labels.shape[1] not in (1, logits.shape[1]):
            raise ShapeError(f"{self.cls_name}: labels must have one class or as many as the logits, got "
                             f"{labels.shape} for {logits.shape}")  # fmt: skip


#: activations that MultiClassDiceLoss takes by name (measured)
_ACTIVATIONS = ("softmax", "logsoftmax", "relu", "relu6", "tanh", "sigmoid")


class MultiClassDiceLoss(LossBase):
    """The mean over classes of ``DiceLoss`` between an activation's output (N, C, ...) and labels.

    Args:
        weights: (C, C), one row for each class, or None.
        ignore_indiex: a class that is left out, or None.
        activation: the name of an activation, a cell, or None.
    """

    def __init__(self, weights: Any = None, ignore_indiex: int | None = None, activation: Any = "softmax") -> None:
        super().__init__()
        if weights is not None and not isinstance(weights, Tensor):
            raise SettingTypeError(f"{self.cls_name}: weights must be a Tensor, got {weights!r}")
        if weights is not None and len(weights.shape) != 2:
            raise SettingError(f"{self.cls_name}: weights must be a Tensor of two axes, got {weights!r}")
        if ignore_indiex is not None and not isinstance(ignore_indiex, int):
            raise SettingTypeError(f"{self.cls_name}: ignore_indiex must be an int, got {ignore_indiex!r}")
        self.binarydiceloss = DiceLoss(smooth=1e-5)
        self.weights = weights
        self.ignore_indiex = ignore_indiex
        if isinstance(activation, str):
            checks.among(activation, _ACTIVATIONS, "activation", self.cls_name)
        self.activation = get_activation(activation) if isinstance(activation, str) else activation
        if activation is not None and not isinstance(self.activation, Cell):
            raise SettingTypeError(f"{self.cls_name}: activation must be a name or a Cell, got {activation!r}")
        self.reshape = ops.Reshape()

    def construct(self, logits: Any, label: Any) -> Any:
        if logits.shape != label.shape:
            raise ShapeError(f"{self.cls_name}: logits {logits.shape} and labels {label.shape} must have one shape")
        if self.activation is not None:
            logits = self.activation(logits)
        total: Any = 0
        for i in range(label.shape[1]):
            if i == self.ignore_indiex:
                continue
            loss = self.binarydiceloss(logits[:, i], label[:, i])
            if self.weights is not None:
                loss = loss * self.weights[i]
            total = loss if isinstance(total, int) else total.__iadd__(loss)
        return total / label.shape[1]
