"""Losses of detection, segmentation and ranking models, with the operators that MindSpore 2.10.0 emits (measured)."""

from __future__ import annotations

from typing import Any

from harness.errors import SettingError, ShapeError
from harness.framework.nn import checks
from harness.framework.nn.losses import LossBase
from harness.framework.nn.namespace import ops

__all__ = ["CTCLoss", "CosineEmbeddingLoss", "DiceLoss", "KLDivLoss", "MarginRankingLoss"]


class CTCLoss(LossBase):
    """The loss of label sequences over all alignments (``ops.ctc_loss``)."""

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__()
        self.settings = blank, reduction, zero_infinity

    def construct(self, log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any) -> Any:
        if len(log_probs.shape) != 2:
            return ops.ctc_loss(log_probs, targets, input_lengths, target_lengths, *self.settings)[0]
        log_probs = log_probs.expand_dims(-2)
        if len(targets.shape) == 1:
            targets = targets.expand_dims(0)
        loss = ops.ctc_loss(log_probs, targets, input_lengths, target_lengths, *self.settings)[0]
        return loss.squeeze(axis=0)


class DiceLoss(LossBase):
    """1 - 2 * |x y| / (|x| ** 2 + |y| ** 2 + smooth)."""

    def __init__(self, smooth: float = 1e-5) -> None:
        super().__init__()
        self.smooth = checks.number(smooth, "smooth", self.cls_name)
        if not isinstance(smooth, float) or smooth <= 0:
            raise SettingError(f"{self.cls_name}: smooth must be a float above 0, got {smooth!r}")

    def construct(self, logits: Any, label: Any) -> Any:
        if logits.shape != label.shape:
            raise ShapeError(f"{self.cls_name}: logits {logits.shape} and labels {label.shape} must have one shape")
        mul, total, flat = ops.Mul(), ops.ReduceSum(), ops.Reshape()
        x, y = flat(logits, (-1,)), flat(label, (-1,))
        common = total(mul(x, y))
        squares = total(mul(x, x)) + total(mul(y, y)) + self.smooth
        return 1 - 2 * common / squares


class MarginRankingLoss(LossBase):
    """max(0, -target * (a - b) + margin)."""

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = margin

    def construct(self, input1: Any, input2: Any, target: Any) -> Any:
        checks.one_dtype(self.cls_name, input1, input2, target)
        return self.get_loss(ops.clamp(-target * (input1 - input2) + self.margin, 0))


class CosineEmbeddingLoss(LossBase):
    """1 - cos of pairs that belong together, max(0, cos - margin) of others."""

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = checks.number(margin, "margin", self.cls_name, -1, 1)
        self.reduce_sum = ops.ReduceSum()

    def construct(self, logits_x1: Any, logits_x2: Any, labels: Any) -> Any:
        if logits_x1.shape != logits_x2.shape or len(logits_x1.shape) < 2:
            raise ShapeError(f"{self.cls_name}: both inputs must have one shape of two axes or more, got "
                             f"{logits_x1.shape} and {logits_x2.shape}")  # fmt: skip
        checks.one_dtype(self.cls_name, logits_x1, logits_x2)
        product = self.reduce_sum(logits_x1 * logits_x2, (1,))
        first = ops.sqrt(self.reduce_sum(ops.square(logits_x1), (1,)))
        second = ops.sqrt(self.reduce_sum(ops.square(logits_x2), (1,)))
        cosine = product / (first * second)
        zeros = ops.zeros_like(cosine)
        together = ops.select(labels == 1, 1.0 - cosine, zeros)
        apart = ops.select(labels == -1, ops.maximum(cosine - self.margin, 0.0), zeros)
        return self.get_loss(together + apart)


class KLDivLoss(LossBase):
    """Kullback-Leibler divergence of log probabilities from probabilities."""

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        if reduction not in ("none", "mean", "batchmean", "sum"):
            raise SettingError(f"{self.cls_name}: reduction must be none, mean, batchmean or sum, got {reduction!r}")
        self.reduction = reduction

    def construct(self, logits: Any, labels: Any) -> Any:
        checks.one_dtype(self.cls_name, logits, labels)
        if self.reduction not in ("mean", "batchmean"):
            return ops.KLDivLoss(self.reduction)(logits, labels)
        total = ops.KLDivLoss("sum")(logits, labels)
        return total / (logits.size if self.reduction == "mean" else logits.shape[0])
