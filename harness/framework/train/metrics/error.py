"""Mean absolute and mean squared error, and the mean of losses."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.errors import IndexRangeError, SettingError
from harness.framework.nn import checks
from harness.framework.train.metrics.base import Array, Metric, rearrange_inputs


class _Error(Metric):
    """Sum of errors over rows (``shape[0]`` of the label).

    Args:
        corrected: subtract unsigned numbers without wrapping, and divide by the number of elements. False does as
            MindSpore: differences of unsigned numbers wrap around, and the sum is divided by rows.
    """

    def __init__(self, *, corrected: bool = False) -> None:
        super().__init__()
        self.corrected = checks.boolean(corrected, "corrected", self._name)
        self.clear()

    def clear(self) -> None:
        self._sum: Any = np.float64(0)  # sums of float32 are added in float64
        self._count = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        prediction, label = self._pair(inputs)
        if label.ndim == 0:
            raise IndexRangeError(f"{self._name}.update: the label must have an axis 0, got a single number")
        if label.size != prediction.size:
            raise SettingError(f"{self._name}.update: a label of shape {label.shape} does not fit a prediction of "
                               f"shape {prediction.shape}")  # fmt: skip
        if self.corrected:
            prediction, label = _signed(prediction), _signed(label)
        self._sum += self._measure(label.reshape(prediction.shape) - prediction).sum()
        self._count += label.size if self.corrected else label.shape[0]

    def eval(self) -> Any:
        if self._count == 0:
            raise self._nothing()
        return self._sum / self._count

    def _measure(self, difference: Array) -> Array:
        raise NotImplementedError


def _signed(values: Array) -> Array:
    return values.astype(np.float64) if values.dtype.kind in "bu" else values


class MAE(_Error):
    """Mean absolute error; see ``_Error``."""

    def _measure(self, difference: Array) -> Array:
        return np.abs(difference)


class MSE(_Error):
    """Mean squared error; see ``_Error``."""

    def _measure(self, difference: Array) -> Array:
        return np.power(difference, 2)


class Loss(Metric):
    """Mean over updates of each update's mean loss: a small last batch weighs as much as the others."""

    def __init__(self) -> None:
        super().__init__()
        self.clear()

    def clear(self) -> None:
        self._sum: Any = np.float64(0)  # as of errors
        self._count = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        self._require(inputs, 1, "loss")
        loss = self._convert_data(inputs[0])
        if loss.ndim > 1:
            raise SettingError(f"Loss.update: the loss must have at most one axis, got shape {loss.shape}")
        self._sum += loss.reshape(-1).mean(-1)
        self._count += 1

    def eval(self) -> Any:
        if self._count == 0:
            raise self._nothing()
        return self._sum / self._count
