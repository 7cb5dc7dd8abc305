"""Measures integers and bools: anything unequal is outside, and errors are exact."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness import dtypes
from harness.compare.accumulator import Accumulator, Array
from harness.compare.measurement import THOUSANDTHS, Sums


class Integers(Accumulator):
    """What has been measured of a pair of integer or bool arrays so far."""

    def __init__(self, dtype: dtypes.DType) -> None:
        super().__init__(dtype)
        self.count = self.nonzero = self.zero_mismatch = 0
        self.scale = 0.0
        self.beyond = [0, 0]
        self.totals = np.zeros(6)

    def add(self, start: int, expected: Array, found: Array) -> None:
        """Takes in a block; see ``Accumulator.add``."""
        if expected.dtype.isbuiltin != 1:  # of 4 bits
            expected, found = expected.astype(np.int16), found.astype(np.int16)
        unequal = expected != found
        differs = self.note_unequal(start, unequal)
        e, f = expected.astype(np.float64), found.astype(np.float64)
        size = np.abs(e)
        self.count += e.size
        self.nonzero += int(np.count_nonzero(size))
        self.scale = max(self.scale, float(size.max()))
        self.totals[:3] += [float(np.einsum("i,i->", a, b)) for a, b in ((e, e), (f, f), (e, f))]
        if differs:
            self._errors(start, expected, found, unequal, size)

    def _errors(self, start: int, expected: Array, found: Array, unequal: Array, size: Array) -> None:
        self.outside = self.unequal
        exact = _distance(expected, found, unequal)
        self.abs.add(start, exact)
        error = exact.astype(np.float64)
        relative = np.where(unequal, error / size, 0.0)
        self.rel.add(start, relative)
        self.zero_mismatch += int(np.count_nonzero((expected == 0) != (found == 0)))
        for which, limit in enumerate(THOUSANDTHS):
            self.beyond[which] += int(np.count_nonzero(relative > limit))
        self.totals[3:] += [error.sum(), np.einsum("i,i->", error, error), relative[size > 0].sum()]

    def more(self, shape: tuple[int, ...]) -> dict[str, Any]:
        """See ``Accumulator.more``; ``shape`` is not used."""
        expected, found, product, error, squared, relative = map(float, self.totals)
        sums = Sums(self.count, error, squared, expected, found, product, relative, self.nonzero)
        return {
            "max_abs": int(self.abs.value), "max_ulp": None, "at_ulp": None, "expected_nan": 0, "found_nan": 0,
            "expected_inf": 0, "found_inf": 0, "zero_mismatch": self.zero_mismatch, "scale": self.scale,
            "beyond": (self.beyond[0], self.beyond[1]), "sums": sums,
        }  # fmt: skip


def _distance(expected: Array, found: Array, unequal: Array) -> Array:
    """Exact absolute differences, uint64."""
    if expected.dtype == np.bool_:
        return unequal.astype(np.uint64)
    # Modulo 2**64 the difference of the larger and the smaller is right for every integer type.
    high, low = np.maximum(expected, found), np.minimum(expected, found)
    distance: Array = high.astype(np.uint64) - low.astype(np.uint64)
    return distance
