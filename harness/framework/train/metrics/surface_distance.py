"""Distances of surfaces: Hausdorff, mean, root mean square."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.errors import HarnessError, SettingError
from harness.framework.nn import checks
from harness.framework.train.metrics.base import Array, typed
from harness.framework.train.metrics.surface import SurfaceMetric


class HausdorffDistance(SurfaceMetric):
    """The largest distance of a point of one surface to the other surface.

    Args:
        distance_metric: see ``SurfaceMetric``.
        percentile: this percentile (float, 0 to 100) of the distances instead of the largest.
        directed: from the prediction to the label only; None is False.
        crop: use only the box around both masks, without its axes of one element. A mask one element thick then loses
            its surface along that axis, and a single point has none (its distance is infinite). MindSpore does this;
            False finds the right surfaces.
    """

    _wrong_index: type[HarnessError] = SettingError

    def __init__(
        self,
        distance_metric: str = "euclidean",
        percentile: float | None = None,
        directed: bool | None = False,
        crop: bool | None = True,
    ) -> None:
        super().__init__(distance_metric)
        owner = "HausdorffDistance"
        self.percentile = None if percentile is None else typed(percentile, (float,), "percentile", owner)
        self.directed = directed if directed is None else checks.boolean(directed, "directed", owner)
        self.crop = crop if crop is None else checks.boolean(crop, "crop", owner)

    def _keeps(self, values: Array) -> bool:
        return False  # a mask of bools is compared with the label index too

    def _cut(self, one: Array, other: Array) -> tuple[Array, Array]:
        places = np.argwhere(one | other)
        if not self.crop or not len(places):
            return one, other
        low, high = places.min(axis=0), places.max(axis=0) + 1
        box = tuple(slice(start, end) for start, end in zip(low.tolist(), high.tolist(), strict=True))
        return np.squeeze(one[box]), np.squeeze(other[box])

    def _of(self, found: Array) -> Any:
        if not len(found):
            return np.inf
        if not self.percentile:
            return found.max()
        if not 0 <= self.percentile <= 100:
            raise SettingError(f"HausdorffDistance: percentile must be in 0..100, got {self.percentile}")
        # Infinities have no percentile between them; some releases of numpy make NaN of it.
        return found.max() if np.isinf(found).all() else np.percentile(found, self.percentile)

    def eval(self) -> Any:
        there = self._of(self._between())
        return there if self.directed else max(there, self._of(self._between(back=True)))


class MeanSurfaceDistance(SurfaceMetric):
    """The mean distance of the prediction's surface to the label's.

    Args:
        symmetric: the mean of that and of the way back.
        distance_metric: see ``SurfaceMetric``.
    """

    def __init__(self, symmetric: bool = False, distance_metric: str = "euclidean") -> None:
        super().__init__(distance_metric)
        self.symmetric = checks.boolean(symmetric, "symmetric", "MeanSurfaceDistance")

    def eval(self) -> Any:
        ways = [self._between(back=back) for back in ((False, True) if self.symmetric else (False,))]
        if not all(map(len, ways)):
            return np.inf
        means = [way.mean() for way in ways]
        return np.mean(means) if self.symmetric else means[0]


class RootMeanSquareDistance(SurfaceMetric):
    """The mean square distance of the prediction's surface to the label's.

    Args:
        symmetric: the root of the mean of that and of the way back.
        distance_metric: see ``SurfaceMetric``.
        corrected: always take the root, as the name says; False is what MindSpore does.
    """

    def __init__(self, symmetric: bool = False, distance_metric: str = "euclidean", *, corrected: bool = False) -> None:
        super().__init__(distance_metric)
        self.symmetric = checks.boolean(symmetric, "symmetric", "RootMeanSquareDistance")
        self.corrected = checks.boolean(corrected, "corrected", "RootMeanSquareDistance")

    def eval(self) -> Any:
        ways = [self._between(back=back) for back in ((False, True) if self.symmetric else (False,))]
        if not all(map(len, ways)):
            return np.inf
        squares = [(way**2).mean() for way in ways]
        return np.sqrt(np.mean(squares)) if self.symmetric or self.corrected else squares[0]
