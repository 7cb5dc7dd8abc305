"""ROC curve, and the area under a curve."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.errors import IndexRangeError, SettingError, SettingTypeError, StateError
from harness.framework.train.metrics.base import Array, Metric, rearrange_inputs, typed

Curve = tuple[Array, Array, Array]


class ROC(Metric):
    """False positive rates, true positive rates and thresholds; the last update counts.

    Args:
        class_num: number of classes for predictions (N, C); None or 1 for two classes, predictions (N,).
        pos_label: label of the positive class, for two classes; None for 1.
    """

    def __init__(self, class_num: int | None = None, pos_label: int | None = None) -> None:
        super().__init__()
        self.class_num = None if class_num is None else typed(class_num, (int,), "class_num", "ROC")
        self.pos_label = None if pos_label is None else typed(pos_label, (int,), "pos_label", "ROC")
        self.clear()

    def clear(self) -> None:
        self._data: tuple[Array, Array] | None = None

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        prediction, label = self._pair(inputs)
        given = f"got a prediction of shape {prediction.shape}, a label of shape {label.shape}"
        if prediction.ndim not in (label.ndim, label.ndim + 1):
            raise SettingError(f"ROC.update: the prediction must have the label's axes, or one more, {given}")
        if prediction.ndim == label.ndim:
            if self.class_num not in (None, 1):
                raise SettingError(
                    f"ROC.update: with equal shapes class_num must be 1, it is {self.class_num}; {given}"
                )
            if prediction.size != label.size:
                raise SettingError(f"ROC.update: both must have as many elements, {given}")
            prediction = prediction.reshape(-1)
        else:
            if self.pos_label is not None:
                raise SettingError(f"ROC.update: pos_label is for two classes, it is {self.pos_label}; {given}")
            if self.class_num != prediction.shape[1]:
                raise SettingError(
                    f"ROC.update: class_num must be {prediction.shape[1]}, it is {self.class_num}; {given}"
                )
            prediction = np.moveaxis(prediction, 1, -1).reshape(-1, prediction.shape[1])
            if len(prediction) != label.size:
                raise SettingError(f"ROC.update: both must have as many samples, {given}")
        self._data = prediction, label.reshape(-1)

    def eval(self) -> tuple[Any, Any, Any]:
        """(false positive rates, true positive rates, thresholds), arrays; lists of one array a class for several."""
        if self._data is None:
            raise StateError("ROC.eval: call update first")
        prediction, label = self._data
        if prediction.ndim == 1:
            return _curve(prediction, label == (1 if self.pos_label is None else self.pos_label))
        curves = [_curve(prediction[:, c], label == c) for c in range(prediction.shape[1])]
        return [c[0] for c in curves], [c[1] for c in curves], [c[2] for c in curves]


def _curve(scores: Array, positive: Array) -> Curve:
    """One class; ``scores`` and ``positive`` have one element a sample."""
    if len(scores) < 2:
        raise IndexRangeError(f"ROC.eval: a curve needs two samples, got {len(scores)}")
    order = np.argsort(-scores)
    scores, positive = scores[order], positive[order].astype(np.int64)
    ends = np.append(np.flatnonzero(np.diff(scores)), len(scores) - 1)
    true = np.append(0, np.cumsum(positive)[ends])
    false = np.append(0, 1 + ends) - true
    for name, counts in (("negative", false), ("positive", true)):
        if counts[-1] <= 0:
            raise SettingError(f"ROC.eval: there are no {name} samples among the labels, so there is no rate")
    thresholds = np.append(scores[ends[:1]] + 1, scores[ends])
    return false / false[-1], true / true[-1], thresholds


def auc(x: Array, y: Array, reorder: bool = False) -> Any:
    """Area under a curve by the trapezoidal rule.

    Args:
        x, y: arrays of shape (N,) or (N, 1), at least two points.
        reorder: sort by x first; otherwise x must rise or fall throughout.

    Raises:
        SettingTypeError: x or y is not an ndarray.
        SettingError: shapes that do not fit, fewer than two points, or an x that turns.
    """
    for name, values in (("x", x), ("y", y)):
        if not isinstance(values, np.ndarray):
            raise SettingTypeError(f"auc: {name} must be an ndarray, got {type(values).__name__}")
        if not (values.ndim == 1 or (values.ndim == 2 and values.shape[1] == 1)):
            raise SettingError(f"auc: {name} must have shape (N,) or (N, 1), got {values.shape}")
    if len(x) != len(y):
        raise SettingError(f"auc: x and y must have as many points, got {len(x)} and {len(y)}")
    if len(x) < 2:
        raise SettingError(f"auc: x must have at least two points, got {len(x)}")
    across, up = x.ravel(), y.ravel()
    if reorder:
        order = np.lexsort((up, across))
        across, up = across[order], up[order]
    steps = np.diff(across)
    if (steps < 0).any() and not (steps <= 0).all():
        raise SettingError(f"auc: x must rise or fall throughout (or reorder be True), got {x}")
    area = (steps * (up[1:] + up[:-1]) / 2.0).sum()
    return -area if (steps < 0).any() else area
