"""Confusion matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.errors import SettingError, StateError
from harness.framework.nn import checks
from harness.framework.train.metrics.base import Array, Metric, rearrange_inputs, typed


class ConfusionMatrix(Metric):
    """Counts of (true class, predicted class), shape (num_classes, num_classes), float64.

    Args:
        num_classes: number of classes.
        normalize: ``no_norm``, or divided by the sums of ``target`` (rows), ``prediction`` (columns) or ``all``.
        threshold: predictions of a floating dtype count as class 1 from here on.
    """

    def __init__(self, num_classes: int, normalize: str = "no_norm", threshold: float = 0.5) -> None:
        super().__init__()
        owner = "ConfusionMatrix"
        self.num_classes = typed(num_classes, (int,), "num_classes", owner)
        accepted = ("target", "prediction", "all", "no_norm")
        if normalize not in accepted:
            raise SettingError(
                f"{owner}: normalize (label or prediction sums) must be one of {accepted}, got {normalize!r}"
            )
        self.normalize = checks.among(normalize, accepted, "normalize", owner)
        self.threshold = typed(threshold, (float,), "threshold", owner)
        self.clear()

    def clear(self) -> None:
        self.confusion_matrix = np.zeros((self.num_classes, self.num_classes))
        self._updated = False

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        prediction, label = self._pair(inputs)
        given = f"got a prediction of shape {prediction.shape}, a label of shape {label.shape}"
        if prediction.ndim not in (label.ndim, label.ndim + 1):
            raise SettingError(
                f"ConfusionMatrix.update: the prediction must have the label's axes, or one more, {given}"
            )
        if prediction.ndim == label.ndim + 1:
            prediction = prediction.argmax(axis=1)
        elif prediction.dtype.kind == "f":
            prediction = (prediction >= self.threshold).astype(int)
        if prediction.size != label.size:
            raise SettingError(f"ConfusionMatrix.update: both must have as many elements, {given}")
        cells = (label.reshape(-1) * self.num_classes + prediction.reshape(-1)).astype(int)
        size = self.num_classes**2
        if cells.size and not 0 <= cells.min() <= cells.max() < size:
            raise SettingError(f"ConfusionMatrix.update: classes must be in 0..{self.num_classes - 1}, got labels up "
                               f"to {label.max()} and predictions up to {prediction.max()}")  # fmt: skip
        self.confusion_matrix += np.bincount(cells, minlength=size).reshape(self.confusion_matrix.shape)
        self._updated = True

    def eval(self) -> Array:
        if not self._updated:
            raise StateError("ConfusionMatrix.eval: call update first")
        counts = self.confusion_matrix
        if self.normalize == "no_norm":
            return counts.copy()
        axis = {"target": 1, "prediction": 0, "all": None}[self.normalize]
        sums = counts.sum(axis=axis, keepdims=True)
        return np.asarray(np.divide(counts, sums, out=np.zeros_like(counts), where=sums != 0))
