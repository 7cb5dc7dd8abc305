"""Keeps in a few numbers which tolerances would admit a pair of arrays, so that it can be judged again without them.

The absolute tolerance needed beside a relative one, ``a(r) = max(|f - e| - r * |e|)``, is a convex
function that falls with r. Its values at a few r (the rungs) bound it everywhere: from above by the chord between two
rungs, from below by the neighbouring chords drawn on. Two such functions are kept, as elements at most one unit in the
last place apart pass under the documented tolerances whatever their size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from harness.compare.tolerances import Tolerance

#: Relative tolerances at which the needed absolute one is known.
RUNGS = (0.0, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)


@dataclass(frozen=True, slots=True)
class NeededTolerance:
    """The absolute tolerance needed at each of ``RUNGS``.

    Attributes:
        every: for all elements finite on both sides.
        apart: for those more than one unit in the last place apart.
        max_ulp: largest distance in units in the last place.
        scale: largest finite magnitude of the expected side, as far as it counts.
        bulk: the size of most of its elements.
    """

    every: tuple[float, ...]
    apart: tuple[float, ...]
    max_ulp: int
    scale: float
    bulk: float

    def admits(self, tolerance: Tolerance) -> bool | None:
        """Whether ``tolerance`` admits every element; None if the kept numbers cannot tell.

        ``exact`` is decided by bits, not here: here it counts as a tolerance of all zeros.
        """
        if self.max_ulp <= tolerance.max_ulp:
            return True
        floor = tolerance.floor(self.scale, self.bulk)
        values = self.apart if tolerance.max_ulp else self.every
        if floor >= self.every[0]:
            return True
        if not floor and not tolerance.rtol:
            return False  # elements apart are admitted by their distance in units alone
        low, high = _bounds(values, tolerance.rtol)
        if high <= floor:
            return True
        # Elements further apart than one unit might still be admitted by a larger max_ulp.
        return False if low > floor and tolerance.max_ulp <= 1 else None

    def as_json(self) -> Any:
        """JSON values from which ``from_json`` makes the same."""
        return {
            "every": self.every,
            "apart": self.apart,
            "max_ulp": self.max_ulp,
            "scale": self.scale,
            "bulk": self.bulk,
        }

    @classmethod
    def from_json(cls, value: Any) -> NeededTolerance:
        """Reads the result of ``as_json``; ``KeyError``, ``TypeError`` or ``ValueError`` for anything else."""
        every, apart = (tuple(float(number) for number in value[name]) for name in ("every", "apart"))
        if not len(every) == len(apart) == len(RUNGS):
            raise ValueError(f"a needed has {len(RUNGS)} rungs")
        return cls(every, apart, int(value["max_ulp"]), float(value["scale"]), float(value["bulk"]))


def _bounds(values: tuple[float, ...], rtol: float) -> tuple[float, float]:
    """Lower and upper bound of a convex falling function at ``rtol``, given its values at ``RUNGS``."""
    known = dict(zip(RUNGS, values, strict=True)).get(rtol)
    if known is not None and (rtol == 0 or known == 0):
        return known, known
    if rtol > RUNGS[-1]:
        return 0.0, values[-1]
    points = [point for point in zip(RUNGS, values, strict=True) if math.isfinite(point[1])]
    left = [point for point in points if point[0] <= rtol]
    right = [point for point in points if point[0] >= rtol]
    if not left or not right:
        return (right[0][1] if right else 0.0), math.inf
    low = max([right[0][1], *(_at(chord, rtol) for side in (left, right) for chord in pairwise(side))])
    high = _at((left[-1], right[0]), rtol)
    # The values are rounded at the size of the largest error, however small they are.
    margin = 1e-15 * points[0][1]
    return low - margin, high + margin


def _at(chord: tuple[tuple[float, float], tuple[float, float]], rtol: float) -> float:
    """The straight line through two points, at ``rtol``; through one point, its value."""
    (r0, a0), (r1, a1) = chord
    return a0 if r0 == r1 else a0 + (a1 - a0) * ((rtol - r0) / (r1 - r0))
