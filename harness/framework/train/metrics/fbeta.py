"""Fbeta and F1: the weighted harmonic mean of precision and recall, per class."""

from __future__ import annotations

from typing import Any

from harness.errors import SettingError
from harness.framework.nn import checks
from harness.framework.train.metrics.base import Metric, one_hot, rearrange_inputs, without_one_hot
from harness.framework.train.metrics.classified import same_classes
from harness.framework.train.metrics.precision_recall import TINY


class Fbeta(Metric):
    """(1 + beta^2) TP / (beta^2 actual + predicted), per class.

    Args:
        beta: how many times recall weighs precision; above 0 (``SettingError``, ``SettingTypeError``).
    """

    def __init__(self, beta: float) -> None:
        super().__init__()
        self.beta = checks.number(beta, "beta", "Fbeta")
        if not beta > 0:
            raise SettingError(f"Fbeta: beta must be above 0, got {beta!r}")
        self.clear()

    def clear(self) -> None:
        self._hits: Any = 0
        self._true: Any = 0
        self._predicted: Any = 0
        self._class_num = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        prediction, label = self._pair(inputs, "Fbeta")
        label = without_one_hot(prediction, label)
        classes = same_classes(self._class_num, prediction, "Fbeta")
        true = one_hot(label, classes, "Fbeta.update")
        predicted = one_hot(prediction.argmax(axis=1), classes, "Fbeta.update")
        if len(true) != len(predicted):
            raise SettingError(f"Fbeta.update: {len(predicted)} samples predicted, {len(true)} labels given")
        self._class_num = classes
        self._hits = self._hits + (true * predicted).sum(axis=0)
        self._true = self._true + true.sum(axis=0)
        self._predicted = self._predicted + predicted.sum(axis=0)

    def eval(self, average: bool = False) -> Any:
        """The value of each class, float64; with ``average`` their mean."""
        checks.boolean(average, "average", "Fbeta")
        if self._class_num == 0:
            raise self._nothing()
        square = self.beta**2
        scores = (1.0 + square) * self._hits / (square * self._true + self._predicted + TINY)
        return scores.mean() if average else scores

    @property
    def _name(self) -> str:
        return "Fbeta"


class F1(Fbeta):
    """``Fbeta`` with beta 1."""

    def __init__(self) -> None:
        super().__init__(1.0)
