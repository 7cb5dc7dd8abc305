"""A rate over the channels of masks."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.errors import SettingError, SettingTypeError
from harness.framework.nn import checks
from harness.framework.train.metrics.base import Array, Metric, rearrange_inputs, typed
from harness.framework.train.metrics.confusion_rates import Counts, rate

DECREASES = ("none", "mean", "sum", "mean_batch", "sum_batch", "mean_channel", "sum_channel")


class ConfusionMatrixMetric(Metric):
    """One of seventeen rates; predictions and labels are masks (N, C) or (N, C, ...), each value 0 or 1.

    Args:
        skip_channel: False leaves out channel 0 (with ``corrected`` True does).
        metric_name: the rate (``sensitivity``, ``tpr``, ...; looked up by ``eval``, or by ``update`` where
            ``calculation_method`` is set).
        calculation_method: the mean of each update's rates; False: the rate of the counts of all updates. Masks of
            two axes (or with a last axis of 1) raise ``SettingError`` with it, unless ``corrected``.
        decrease: how the rates (N, C) of an update become one number: mean or sum of all, over the batch, or over the
            channels; those that give more than one number raise ``SettingError``, ``mean_batch`` raises
            ``SettingTypeError``.
        corrected: the value is the mean over updates of what ``decrease`` gives, whatever its shape; NaN rates
            do not count; ``skip_channel`` then skips channel 0 when True, as its name says.
    """

    def __init__(
        self,
        skip_channel: bool = True,
        metric_name: str = "sensitivity",
        calculation_method: bool = False,
        decrease: str = "mean",
        *,
        corrected: bool = False,
    ) -> None:
        super().__init__()
        owner = "ConfusionMatrixMetric"
        self.skip_channel = checks.boolean(skip_channel, "skip_channel", owner)
        self.calculation_method = checks.boolean(calculation_method, "calculation_method", owner)
        self.metric_name = typed(metric_name, (str,), "metric_name", owner)
        self.decrease = checks.among(typed(decrease, (str,), "decrease", owner), DECREASES, "decrease", owner)
        self.corrected = checks.boolean(corrected, "corrected", owner)
        self.clear()

    def clear(self) -> None:
        self._counts = np.zeros(4)
        self._sum: Any = 0
        self._weight: Any = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        prediction, label = self._pair(inputs)
        counts = self._count(prediction, label)
        if not self.calculation_method:
            self._counts += [each.sum() for each in counts]
            return
        if not self.corrected and prediction.size == prediction.shape[0] * prediction.shape[1]:
            raise SettingError(
                f"ConfusionMatrixMetric: calculation_method takes masks of three axes, got {prediction.shape}; "
                "ConfusionMatrixMetric(..., corrected=True) takes two"
            )
        score: Any
        weight: Any
        score, weight = _reduced(rate(self.metric_name, counts), self.decrease)
        if not self.corrected:
            if self.decrease == "mean_batch":
                raise SettingTypeError("ConfusionMatrixMetric: decrease='mean_batch' fails in MindSpore; "
                                       "ConfusionMatrixMetric(..., corrected=True) gives it")  # fmt: skip
            if np.size(score) != 1:
                raise SettingError(
                    f"ConfusionMatrixMetric: decrease={self.decrease!r} leaves {np.size(score)} numbers, "
                    "and one is needed; ConfusionMatrixMetric(..., corrected=True) gives them all"
                )
            score, weight = np.asarray(score).item(), int(np.asarray(weight).item())
        self._sum = self._sum + score * weight
        self._weight = self._weight + weight

    def _count(self, prediction: Array, label: Array) -> Counts:
        if not (label.astype(np.uint8) == label).all():
            raise SettingError("ConfusionMatrix.update: the label must be binary (every value 0 or 1)")
        if prediction.ndim < 2:
            raise SettingError(
                f"ConfusionMatrix.update: the prediction must have at least two axes, got {prediction.shape}"
            )
        if label.shape != prediction.shape:
            raise SettingError(
                f"ConfusionMatrix.update: y_shape {label.shape} must equal y_pred_shape {prediction.shape}"
            )
        if self.skip_channel == self.corrected and prediction.shape[1] > 1:
            prediction, label = prediction[:, 1:], label[:, 1:]
        rows = (*prediction.shape[:2], -1)
        both = prediction.astype(float).reshape(rows) + label.astype(float).reshape(rows)
        tp, tn = (both == 2).sum(axis=2).astype(float), (both == 0).sum(axis=2).astype(float)
        true = label.astype(float).reshape(rows).sum(axis=2)
        return Counts(tp, both.shape[2] - true - tn, tn, true - tp)

    def eval(self) -> Any:
        """A float with ``calculation_method``; otherwise the rate as an array of one element."""
        if not self.calculation_method:
            return rate(self.metric_name, Counts(*self._counts.reshape(4, 1)))
        if not np.any(self._weight):
            raise self._nothing()
        if not self.corrected:
            return self._sum / self._weight
        return np.divide(self._sum, self._weight, out=np.full(np.shape(self._sum), np.nan), where=self._weight != 0)


def _mean(values: Array, counts: Array, axis: int) -> tuple[Array, Array]:
    found = counts.sum(axis=axis)
    total = values.sum(axis=axis)
    return np.divide(total, found, out=np.zeros_like(total), where=found > 0), found


def _reduced(rates: Array, decrease: str) -> tuple[Array, Array]:
    """Rates (N, C), NaN where there is none, reduced; and of how many each result is made."""
    counts = (~np.isnan(rates)).astype(float)
    values = np.where(counts > 0, rates, 0.0)
    axis = {"batch": 0, "channel": 1}.get(decrease.partition("_")[2])
    if decrease == "none":
        return values, counts
    if decrease == "mean":
        values, counts = _mean(values, counts, 1)
        return _mean(values, (counts > 0).astype(float), 0)
    if decrease.startswith("mean"):
        return _mean(values, counts, axis or 0)
    return values.sum(axis=axis), counts.sum(axis=axis)
