"""Shared parts of metrics for classification and for several labels at once (``multilabel``)."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.errors import SettingError, SettingTypeError
from harness.framework.train.metrics.base import Array, Metric, rearrange_inputs, without_one_hot

EVAL_TYPES = ("classification", "multilabel")


class ClassMetric(Metric):
    """A metric over predictions of classes.

    Args:
        eval_type: ``classification`` (prediction (N, C, ...), label (N, ...) or one-hot) or ``multilabel`` (both of one
            shape, each value 0 or 1).

    Raises:
        SettingTypeError: another ``eval_type``.
    """

    def __init__(self, eval_type: str) -> None:
        super().__init__()
        if eval_type not in EVAL_TYPES:
            raise SettingTypeError(f"{self._name}: eval_type must be one of {EVAL_TYPES}, got {eval_type!r}")
        self._type = eval_type
        self._class_num = 0

    def _checked(self, inputs: tuple[Any, ...]) -> tuple[Array, Array]:
        """Prediction and label; shapes, values and the number of classes hold."""
        prediction, label = self._pair(inputs)
        if self._type == "classification":
            label = without_one_hot(prediction, label)
        self._check_shapes(prediction, label)
        if self._type == "multilabel" and not (_is_binary(prediction) and _is_binary(label)):
            raise SettingError(f"{self._name}.update: multilabel: every value must be 0 or 1")
        self._class_num = same_classes(self._class_num, prediction, self._name)
        return prediction, label

    def _check_shapes(self, prediction: Array, label: Array) -> None:
        given = f"got a prediction of shape {prediction.shape}, a label of shape {label.shape}"
        if self._type == "multilabel":
            if prediction.shape != label.shape:
                raise SettingError(f"{self._name}.update: multilabel: both shapes must be equal, {given}")
            return
        if prediction.ndim != label.ndim + 1:
            raise SettingError(f"{self._name}.update: the label must have one axis less than the prediction, {given}")
        if label.shape != prediction.shape[:1] + prediction.shape[2:]:
            raise SettingError(
                f"{self._name}.update: the label's shape must be the prediction's without axis 1, {given}"
            )


def _is_binary(values: Array) -> bool:
    return bool(((values == 0) | (values == 1)).all())


def same_classes(before: int, prediction: Array, owner: str) -> int:
    """The number of classes (axis 1); ``SettingError`` if updates before had another (0 for none)."""
    if prediction.ndim < 2:
        raise SettingError(f"{owner}.update: the prediction must have an axis 1, got shape {prediction.shape}")
    now = int(prediction.shape[1])
    if before not in (0, now):
        raise SettingError(f"{owner}.update: the number of classes changed from {before} to {now}; call clear first")
    return now


class Accuracy(ClassMetric):
    """Share of samples that are predicted right; with ``multilabel`` a sample is right if all its labels are."""

    def __init__(self, eval_type: str = "classification") -> None:
        super().__init__(eval_type)
        self.clear()

    def clear(self) -> None:
        self._correct: Any = 0
        self._total = 0
        self._class_num = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        prediction, label = self._checked(inputs)
        if self._type == "classification":
            right = prediction.argmax(axis=1) == label
        else:
            right = np.moveaxis(prediction == label, 1, -1).reshape(-1, self._class_num).all(axis=1)
        self._correct += np.count_nonzero(right)
        self._total += right.size

    def eval(self) -> Any:
        if self._total == 0:
            raise self._nothing()
        return np.float64(self._correct) / self._total
