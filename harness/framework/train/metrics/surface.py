"""Surfaces of masks, and the distances between them, in any number of dimensions.

Distances are found by comparing every point of one surface with every point of the other, in slices: exact, and fast
enough for the masks of a test.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from harness.errors import HarnessError, SettingError, SettingTypeError
from harness.framework.nn import checks
from harness.framework.train.metrics.base import Array, Metric, rearrange_inputs, typed

#: pairs of points that are compared at a time
_PAIRS = 1 << 20


def _euclidean(steps: Array) -> Array:
    return np.asarray(np.sqrt((steps.astype(np.float64) ** 2).sum(axis=-1)))


def _chessboard(steps: Array) -> Array:
    return np.asarray(np.abs(steps).max(axis=-1).astype(np.int32))


def _taxicab(steps: Array) -> Array:
    return np.asarray(np.abs(steps).sum(axis=-1).astype(np.int32))


DISTANCES: dict[str, Callable[[Array], Array]] = {
    "euclidean": _euclidean,
    "chessboard": _chessboard,
    "taxicab": _taxicab,
}


def surface(mask: Array) -> Array:
    """Points of ``mask`` (bool) with a neighbour along an axis outside it; outside the array nothing is inside."""
    padded = np.pad(mask, 1)
    inner = mask.copy()
    middle = (slice(1, -1),) * mask.ndim
    for axis in range(mask.ndim):
        for shift in (-1, 1):
            inner &= np.roll(padded, shift, axis)[middle]
    return np.asarray(mask & ~inner)


def distances(start: Array, target: Array, metric: str) -> Array:
    """Of every point of surface ``start`` its distance to the nearest one of ``target``; infinite if that is empty."""
    points, others = np.argwhere(start), np.argwhere(target)
    if not len(points):
        return np.array([])
    if not len(others):
        return np.full(len(points), np.inf)
    size = max(1, _PAIRS // len(others))
    parts = [
        DISTANCES[metric](points[at : at + size, None, :] - others[None]).min(axis=1)
        for at in range(0, len(points), size)
    ]
    return np.concatenate(parts)


class SurfaceMetric(Metric):
    """A metric over (prediction, label, label index); the last update counts.

    Args:
        distance_metric: ``euclidean``, ``chessboard`` or ``taxicab``.
    """

    #: the error for a label index of a wrong type
    _wrong_index: type[HarnessError] = SettingTypeError

    def __init__(self, distance_metric: str) -> None:
        super().__init__()
        typed(distance_metric, (str,), "distance_metric", self._name)
        self.distance_metric = checks.among(distance_metric, tuple(DISTANCES), "distance_metric", self._name)
        self.clear()

    def clear(self) -> None:
        self._surfaces: tuple[Array, Array] | None = None

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        owner = f"{self._name}.update"
        self._require(inputs, 3, "prediction, label, label index")
        prediction, label = self._convert_data(inputs[0]), self._convert_data(inputs[1])
        index = inputs[2]
        if not isinstance(index, (int, float)):
            raise self._wrong_index(f"{owner}: the label index must be an int or float, got {type(index).__name__}")
        if index not in prediction and index not in label:
            raise SettingError(f"{owner}: the label index {index} is neither in the prediction nor in the label")
        if not prediction.size or prediction.shape != label.shape:
            raise SettingError(f"{owner}: prediction and label must have one shape and not be empty, "
                               f"got {prediction.shape} and {label.shape}")  # fmt: skip
        one, other = (each if self._keeps(each) else each == index for each in (prediction, label))
        one, other = self._cut(one, other)
        self._surfaces = surface(one), surface(other)

    def _cut(self, one: Array, other: Array) -> tuple[Array, Array]:
        """The part of both masks that is compared."""
        return one, other

    def _keeps(self, values: Array) -> bool:
        """Whether a mask is used unchanged."""
        return values.dtype == bool

    def _between(self, *, back: bool = False) -> Array:
        """Distances from the prediction's surface to the label's, or back; ``StateError`` before an update."""
        if self._surfaces is None:
            raise self._nothing()
        start, target = self._surfaces[::-1] if back else self._surfaces
        return distances(start, target, self.distance_metric)
