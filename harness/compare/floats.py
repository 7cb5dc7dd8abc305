"""Measures floating-point and complex numbers block by block; a pass runs only if an earlier one needs it.

Differences are taken in float64, which holds all narrower types. A block without NaN and infinities, whose elements
keep their signs, takes some twenty passes of simple arithmetic; other cases cost time only where they occur.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from harness import dtypes
from harness.compare.accumulator import Accumulator, Array, Peak, where
from harness.compare.bulk import Bulk
from harness.compare.measurement import THOUSANDTHS, Sums, ulp_bound
from harness.compare.needed_tolerance import RUNGS, NeededTolerance
from harness.compare.tolerances import Tolerance
from harness.compare.ulp import ulp_distance

_TINY = float(np.finfo(np.float64).tiny)
#: Above every relative error of types narrower than float64 (float32's largest over its smallest number is 2e83), below
#: the smallest of their errors over ``_TINY``.
_UNREACHED = 1e200


@dataclass(slots=True)
class BlockErrors:
    """A block of finite numbers (0 on both sides if either has NaN or an infinity), and values computed from it.

    Attributes:
        start: flat index of its first element.
        raw: both sides in the dtype itself.
        wide: both sides in float64 or complex128.
        size: ``|e|``.
        error: ``|f - e|``.
        relative: ``error / size``; 0 for 0/0.
        ulps: distance in units in the last place.
        worst: the largest of ``relative``.
    """

    start: int
    raw: tuple[Array, Array]
    wide: tuple[Array, Array]
    size: Array
    error: Array
    relative: Array
    ulps: Array
    worst: float


class Floats(Accumulator):
    """What has been measured of a pair of floating-point or complex arrays so far.

    Args:
        dtype: of both.
        tolerance: what is admitted.
        scale: gives the largest finite magnitude of the expected side; asked once, where ``tolerance.scaled`` needs it.
        bulk: gives the sizes of its elements; asked once.
    """

    def __init__(
        self, dtype: dtypes.DType, tolerance: Tolerance, scale: Callable[[], float], bulk: Callable[[], Bulk]
    ) -> None:
        super().__init__(dtype)
        self.tolerance = tolerance
        self._largest, self._bulk = scale, bulk
        self.ulp = Peak()
        self.ulp_counts: list[int] = []
        self.specials = np.zeros(6, np.int64)
        self.finite = self.nonzero = self.zero_mismatch = 0
        self.scale = 0.0
        self.beyond = [0, 0]
        self.totals = np.zeros(6)
        self.every, self.apart = [0.0] * len(RUNGS), [0.0] * len(RUNGS)

    @cached_property
    def floor(self) -> float:
        """The part of the tolerance that is the same for all elements."""
        if not self.tolerance.scaled:
            return self.tolerance.atol
        return self.tolerance.floor(min(self._largest(), self.bulk.reach), self.bulk.size)

    @cached_property
    def bulk(self) -> Bulk:
        """The sizes of the expected elements."""
        return self._bulk()

    def add(self, start: int, expected: Array, found: Array) -> None:
        """Takes in a block; see ``Accumulator.add``."""
        unequal = words(expected) != words(found)
        if unequal.ndim > 1:
            unequal = unequal.any(axis=1)
        differs = self.note_unequal(start, unequal)
        raw, both = (expected, found), (wide(expected), wide(found))
        squares, bad = _squares(*both), None
        if np.isfinite(squares).all():
            self.finite += expected.size
        else:
            raw, both, bad = self._without_specials(start, raw, both)
            squares = _squares(*both)
        self.totals[:3] += squares
        size = np.abs(both[0])
        nonzero = int(np.count_nonzero(size))
        self.scale = max(self.scale, float(size[size.argmax()]))
        self.nonzero += nonzero
        if differs:
            self._judge(self._errors(start, raw, both, size, nonzero < size.size), unequal, bad)

    def _without_specials(
        self, start: int, raw: tuple[Array, Array], both: tuple[Array, Array]
    ) -> tuple[tuple[Array, Array], tuple[Array, Array], Array]:
        """Counts NaN and infinities; gives the block with 0 in their places, and where the sides disagree on one."""
        nan, inf = (tuple(test(side) for side in both) for test in (np.isnan, np.isinf))
        finite = np.isfinite(both[0]) & np.isfinite(both[1])
        bad = ~finite & ~same_special(*both)
        other_nan = nan[0] != nan[1]
        counts = (*nan, *inf, other_nan, bad & ~other_nan & ~(nan[0] & nan[1]))
        self.specials += [int(np.count_nonzero(each)) for each in counts]
        self.nonfinite += int(np.count_nonzero(bad))
        if self.first_nonfinite is None and bad.any():
            self.first_nonfinite = start + int(bad.argmax())
        self.finite += int(np.count_nonzero(finite))
        narrow = tuple(np.where(finite, side, np.zeros(1, side.dtype)) for side in raw)
        return (narrow[0], narrow[1]), (np.where(finite, both[0], 0), np.where(finite, both[1], 0)), bad

    def _errors(
        self, start: int, raw: tuple[Array, Array], both: tuple[Array, Array], size: Array, zeros: bool
    ) -> BlockErrors:
        """Adds the errors of a block; ``zeros`` if ``size`` has any."""
        error = np.abs(both[1] - both[0])
        relative = _relative(error, size, zeros, self.dtype.itemsize // (2 if self.dtype.kind == "c" else 1))
        ulps = _steps(*raw, self.dtype)
        self.abs.add(start, error)
        worst = float(self.rel.add(start, relative))
        self._count(ulps, int(self.ulp.add(start, ulps)))
        if worst >= 1:  # as a zero on one side only always is
            self.zero_mismatch += int(np.count_nonzero((both[0] == 0) != (both[1] == 0)))
        for which, limit in enumerate(THOUSANDTHS):
            if worst > limit:
                self.beyond[which] += int(np.count_nonzero(relative > limit))
        known = relative.sum() if worst < np.inf else relative[size > 0].sum()
        self.totals[3:] += error.sum(), dot(error, error), known
        block = BlockErrors(start, raw, both, size, error, relative, ulps, worst)
        self._climb(block)
        return block

    def _count(self, ulps: Array, furthest: int) -> None:
        """Counts how many elements are beyond 0, 1, 2, 4, ... units."""
        step = 0
        while (bound := ulp_bound(step)) < furthest:
            if step == len(self.ulp_counts):
                self.ulp_counts.append(0)
            self.ulp_counts[step] += int(np.count_nonzero(ulps > bound))
            step += 1

    def _climb(self, block: BlockErrors) -> None:
        """Raises the absolute tolerance needed beside each relative one: fewer and fewer elements need any."""
        error, size, relative, ulps = block.error, block.size, block.relative, block.ulps
        for rung, rtol in enumerate(RUNGS):
            if rung:
                chosen = relative > rtol
                count = int(np.count_nonzero(chosen))
                if not count:
                    return
                if count < chosen.size // 8:  # picking them costs as much as some ten passes over all
                    error, size, relative, ulps = (array[chosen] for array in (error, size, relative, ulps))
            needed = error - rtol * size if rung else error
            at = int(needed.argmax())
            self.every[rung] = max(self.every[rung], float(needed[at]))
            apart = needed[at] if ulps[at] > 1 else needed[ulps > 1].max(initial=0.0)
            self.apart[rung] = max(self.apart[rung], float(apart))

    def _judge(self, block: BlockErrors, unequal: Array, bad: Array | None) -> None:
        """Counts the elements that the tolerance does not admit."""
        if self.tolerance.exact:
            self.outside += int(np.count_nonzero(unequal))
            return
        outside = None
        if block.worst > self.tolerance.rtol and self.ulp.value > self.tolerance.max_ulp:
            admitted = self.floor + self.tolerance.rtol * block.size
            beyond = (block.error > admitted) & (block.ulps > self.tolerance.max_ulp)
            excess = np.where(beyond, block.error / admitted, 0.0)
            self.excess.add(block.start, excess)
            outside = beyond
        if bad is not None:
            outside = bad if outside is None else outside | bad
        self.outside += int(np.count_nonzero(outside)) if outside is not None else 0

    def more(self, shape: tuple[int, ...]) -> dict[str, Any]:
        """See ``Accumulator.more``."""
        nan, found_nan, inf, found_inf, nan_mismatch, inf_mismatch = map(int, self.specials)
        expected, found, product, error, squared, relative = map(float, self.totals)
        needed = None
        if not self.nonfinite:
            sizes = min(self.scale, self.bulk.reach), self.bulk.size
            needed = NeededTolerance(tuple(self.every), tuple(self.apart), int(self.ulp.value), *sizes)
        return {
            "max_abs": float(self.abs.value), "max_ulp": int(self.ulp.value), "at_ulp": where(self.ulp.at, shape),
            "expected_nan": nan, "found_nan": found_nan, "expected_inf": inf, "found_inf": found_inf,
            "nan_mismatch": nan_mismatch, "inf_mismatch": inf_mismatch, "zero_mismatch": self.zero_mismatch,
            "scale": self.scale, "bulk": self.bulk.size, "reach": self.bulk.reach,
            "beyond": (self.beyond[0], self.beyond[1]), "ulp_counts": tuple(self.ulp_counts),
            "sums": Sums(self.finite, error, squared, expected, found, product, relative, self.nonzero),
            "needed": needed,
        }  # fmt: skip


def wide(block: Array) -> Array:
    """float64 or complex128 of a block of floating-point or complex numbers; exact."""
    return block.astype(np.complex128 if block.dtype.kind == "c" else np.float64, copy=False)


def words(block: Array) -> Array:
    """The bits of a block as unsigned integers; of complex numbers shape (n, 2)."""
    if block.dtype.kind == "c":
        half = block.itemsize // 2
        return block.view(f"u{half}").reshape(-1, 2)
    return block.view(f"u{block.itemsize}")


def _squares(e: Array, f: Array) -> tuple[float, float, float]:
    """Sums of ``|e|**2``, ``|f|**2`` and ``e * f``."""
    if e.dtype.kind == "c":
        e, f = e.view(np.float64), f.view(np.float64)
    return dot(e, e), dot(f, f), dot(e, f)


#: BLAS splits longer products over threads, whose waiting costs more than the product.
_ROW = 8192


def dot(a: Array, b: Array) -> float:
    """The scalar product of two 1-D contiguous float64 arrays."""
    if a.size < _ROW:
        return float(np.dot(a, b))
    whole = a.size - a.size % _ROW
    rows = np.matmul(a[:whole].reshape(-1, 1, _ROW), b[:whole].reshape(-1, _ROW, 1))
    return float(rows.sum() + np.dot(a[whole:], b[whole:]))


def _relative(error: Array, size: Array, zeros: bool, itemsize: int) -> Array:
    """Relative errors: infinite against 0, 0 for no error."""
    relative: Array
    if not zeros:
        relative = error / size
    elif itemsize < 8:
        # Against 0, narrower types give either no error or an error that no other element can have.
        relative = error / np.maximum(size, _TINY)
        relative[relative > _UNREACHED] = np.inf
    else:
        relative = np.divide(error, size, out=np.full_like(error, np.inf), where=size > 0)
        relative[error == 0] = 0.0
    return relative


def _steps(expected: Array, found: Array, dtype: dtypes.DType) -> Array:
    """Distances in units in the last place."""
    if dtype.kind == "f":
        a, b = (side.view(f"i{dtype.itemsize}") for side in (expected, found))
        if (a ^ b).min() >= 0:
            # For equal signs, the bits as integers are as far apart as the numbers on the number line.
            steps: Array = np.abs(a - b)
            return steps
    return ulp_distance(expected, found, dtype)


def same_special(expected: Array, found: Array) -> Array:
    """Where both are NaN (whatever its bits), or the same infinity; of complex numbers, in both parts."""
    if expected.dtype.kind == "c":
        a, b = expected.view(np.float64), found.view(np.float64)
        parts: Array = (same_special(a, b) | (a == b)).reshape(-1, 2).all(axis=1)
        return parts
    same: Array = (np.isnan(expected) & np.isnan(found)) | (np.isinf(expected) & (expected == found))
    return same
