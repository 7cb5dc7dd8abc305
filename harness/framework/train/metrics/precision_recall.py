"""Precision and recall, per class; with ``multilabel`` per sample."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from harness.framework.nn import checks
from harness.framework.train.metrics.base import Array, one_hot, rearrange_inputs
from harness.framework.train.metrics.classified import ClassMetric

#: added to every denominator, so that an empty class has 0
TINY = sys.float_info.min


class _Ratio(ClassMetric):
    """True positives over a count, which a subclass takes from what was predicted or from what is true."""

    _of_truth: bool

    def __init__(self, eval_type: str = "classification") -> None:
        super().__init__(eval_type)
        self.clear()

    def clear(self) -> None:
        empty: Any = np.empty(0) if self._type == "multilabel" else 0
        self._hits, self._counts = empty, empty
        self._class_num = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        prediction, label = self._checked(inputs)
        if self._type == "multilabel":
            predicted, true = self._by_sample(prediction), self._by_sample(label)
        else:
            owner = f"{self._name}.update"
            true = one_hot(label, self._class_num, owner)
            predicted = one_hot(prediction.argmax(axis=1), self._class_num, owner)
        hits, counts = (predicted * true).sum(axis=0), (true if self._of_truth else predicted).sum(axis=0)
        if self._type == "multilabel":
            self._hits, self._counts = np.append(self._hits, hits), np.append(self._counts, counts)
        else:
            self._hits, self._counts = self._hits + hits, self._counts + counts

    def _by_sample(self, values: Array) -> Array:
        return values.swapaxes(1, 0).reshape(self._class_num, -1)

    def eval(self, average: bool = False) -> Any:
        """The value of each class (of each sample with ``multilabel``), float64; with ``average`` their mean."""
        if self._class_num == 0:
            raise self._nothing()
        checks.boolean(average, "average", self._name)
        ratio = self._hits / (self._counts + TINY)
        return ratio.mean() if average else ratio


class Precision(_Ratio):
    """True positives over all predicted positives; see ``ClassMetric`` for ``eval_type``."""

    _of_truth = False


class Recall(_Ratio):
    """True positives over all actual positives; see ``ClassMetric`` for ``eval_type``."""

    _of_truth = True
