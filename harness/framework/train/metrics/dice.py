"""Dice coefficient: how much two masks overlap."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.errors import SettingError
from harness.framework.train.metrics.base import Metric, rearrange_inputs, typed


class Dice(Metric):
    """2 (prediction . label) / (prediction . prediction + label . label + smooth) of each update, over all rows.

    Args:
        smooth: keeps the denominator from 0; a float above 0 (``SettingTypeError``, ``SettingError``).
    """

    def __init__(self, smooth: float = 1e-5) -> None:
        super().__init__()
        self.smooth = typed(smooth, (float,), "smooth", "Dice")
        if not smooth > 0:
            raise SettingError(f"Dice: smooth must be above 0, got {smooth!r}")
        self.clear()

    def clear(self) -> None:
        self._sum = 0.0
        self._rows = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        prediction, label = self._pair(inputs)
        if prediction.shape != label.shape or not label.ndim:
            raise SettingError(f"Dice.update: prediction and label must have one shape, of at least one axis, "
                               f"got {prediction.shape} and {label.shape}")  # fmt: skip
        one, other = prediction.ravel(), label.ravel()
        both = np.dot(one, one) + np.dot(other, other)
        self._sum += 2 * float(np.dot(one, other)) / float(both + self.smooth)
        self._rows += label.shape[0]

    def eval(self) -> float:
        if self._rows == 0:
            raise self._nothing()
        return self._sum / float(self._rows)
