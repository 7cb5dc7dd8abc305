"""Perplexity: exp of the mean negative log probability of the right labels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from harness.errors import IndexRangeError, StateError
from harness.framework.train.metrics.base import Metric, rearrange_inputs, typed

#: probabilities below count as this
FLOOR = 1e-10


class Perplexity(Metric):
    """Predictions are probabilities (N, C), labels (N,).

    Args:
        ignore_label: samples with this label do not count; None for none.
    """

    def __init__(self, ignore_label: int | None = None) -> None:
        super().__init__()
        self.ignore_label = None if ignore_label is None else typed(ignore_label, (int,), "ignore_label", "Perplexity")
        self.clear()

    def clear(self) -> None:
        self._sum: Any = 0.0
        self._count: Any = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        prediction, label = self._pair(inputs)
        if prediction.ndim != 2 or label.size != prediction.shape[0]:
            raise StateError(f"Perplexity.update: the prediction must have shape (N, C), and there must be N labels, "
                             f"got {prediction.shape} and {label.shape}")  # fmt: skip
        wanted = label.reshape(-1).astype(int)
        classes = prediction.shape[1]
        if wanted.size and not -classes <= wanted.min() <= wanted.max() < classes:
            raise IndexRangeError(f"Perplexity.update: labels must be below {classes}, got {wanted.max()}")
        probability = np.take_along_axis(prediction, wanted[:, None] % classes, axis=1)[:, 0]
        if self.ignore_label is not None:
            probability = probability[wanted != self.ignore_label]
        self._sum -= np.log(np.maximum(FLOOR, probability)).sum()
        self._count += probability.size

    def eval(self) -> float:
        if self._count == 0:
            raise self._nothing()
        return math.exp(self._sum / self._count)
