"""Share of samples whose label is among the k highest predictions."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.errors import SettingError, SettingTypeError
from harness.framework.train.metrics.base import Metric, rearrange_inputs, without_one_hot


class TopKCategoricalAccuracy(Metric):
    """Predictions are (N, C), labels (N,) or one-hot.

    Args:
        k: how many of the highest count; an int of at least 1 (``SettingTypeError``, ``SettingError``).
    """

    def __init__(self, k: int) -> None:
        super().__init__()
        if not isinstance(k, int):
            raise SettingTypeError(f"TopKCategoricalAccuracy: k must be an int, got {type(k).__name__} {k!r}")
        if k < 1:
            raise SettingError(f"TopKCategoricalAccuracy: k must be at least 1, got {k}")
        self.k = k
        self.clear()

    def clear(self) -> None:
        self._correct: Any = np.int64(0)
        self._total = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        prediction, label = self._pair(inputs)
        label = without_one_hot(prediction, label).reshape(-1)
        if prediction.ndim != 2 or prediction.shape[1] < self.k:
            raise SettingError(
                f"{self._name}.update: the prediction must have shape (N, at least {self.k}), got {prediction.shape}"
            )
        highest = np.argsort(-prediction, axis=1)[:, : self.k]
        if len(highest) != len(label):
            raise SettingError(f"{self._name}.update: {len(highest)} samples predicted, {len(label)} labels given")
        self._correct += (highest == label[:, None]).sum()
        self._total += len(label)

    def eval(self) -> Any:
        if self._total == 0:
            raise self._nothing()
        return self._correct / self._total

    @property
    def _name(self) -> str:
        return "TopKCategoricalAccuracy"


class Top1CategoricalAccuracy(TopKCategoricalAccuracy):
    """``TopKCategoricalAccuracy`` with k = 1."""

    def __init__(self) -> None:
        super().__init__(1)


class Top5CategoricalAccuracy(TopKCategoricalAccuracy):
    """``TopKCategoricalAccuracy`` with k = 5."""

    def __init__(self) -> None:
        super().__init__(5)
