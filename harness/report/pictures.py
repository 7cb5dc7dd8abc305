"""The pictures of one pair of tensors for a page: histograms and a heat map, reduced to a few hundred numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.stats import Statistics, describe

Array = np.ndarray[Any, np.dtype[Any]]

BINS = 40
#: Decades of error, relative to the largest expected magnitude, that a histogram shows: 1e-10 and less to 1 and more.
DECADES = 10
_ROWS, _COLUMNS = 32, 64
#: Cells of a heat map: equal; one per decade of error, from 1e-8 and less; NaN or infinity on one side only.
EQUAL, MISMATCH = 0, 9


def picture(expected: Array, found: Array, dtype: str) -> dict[str, Any]:
    """Histograms of values and errors and a heat map of errors, as JSON values.

    Args:
        expected, found: arrays of one shape, of any dtype but complex.
        dtype: MindSpore name of their dtype.

    Returns:
        ``low``, ``high``, ``expected``, ``found`` (counts of values in ``BINS`` bins between them); ``errors`` (counts
        of elements with no error, and with one of each decade); ``map`` (rows, a digit a cell) and ``cell`` (elements
        that a cell stands for, rows by columns); ``statistics`` of both sides.
    """
    with np.errstate(all="ignore"):
        e, f = expected.astype(np.float64), found.astype(np.float64)
        same = (e == f) | (np.isnan(e) & np.isnan(f))
        error = np.where(same, 0.0, np.abs(f - e))
        finite = np.abs(e[np.isfinite(e)])
        scale = float(finite.max(initial=0.0)) or 1.0
        low, high, counts = _values(e, f)
        rows, cell = _map(error / scale)
        return {
            "low": low, "high": high, "expected": counts[0], "found": counts[1], "errors": _errors(error / scale),
            "map": rows, "cell": cell,
            "statistics": [_statistics(describe(side, dtype)) for side in (expected, found)],
        }  # fmt: skip


def _values(e: Array, f: Array) -> tuple[float, float, list[list[int]]]:
    both = [side[np.isfinite(side)] for side in (e, f)]
    low = min((float(side.min()) for side in both if side.size), default=0.0)
    high = max((float(side.max()) for side in both if side.size), default=0.0)
    if not np.isfinite(high - low) or high == low:
        # One value, or a range beyond float64: one bin holds all.
        return low, high, [[side.size, *[0] * (BINS - 1)] for side in both]
    return low, high, [np.histogram(side, BINS, (low, high))[0].tolist() for side in both]


def _errors(relative: Array) -> list[int]:
    """Counts: no error; 1e-10 and less, up to 1e-9, ..., more than 1 (and NaN or infinity on one side only)."""
    flat = relative.reshape(-1)
    nonzero = flat[flat != 0]
    bad = ~np.isfinite(nonzero)
    places = np.clip(np.ceil(np.log10(nonzero[~bad])) + DECADES, 0, DECADES + 1).astype(np.int64)
    counts = np.bincount(places, minlength=DECADES + 2)
    counts[-1] += int(np.count_nonzero(bad))
    return [int(flat.size - nonzero.size), *map(int, counts)]


def _map(relative: Array) -> tuple[list[str], list[int]]:
    """The largest error of each cell of the tensor laid out as rows of its last axis."""
    flat = relative.reshape(-1, relative.shape[-1]) if relative.ndim > 1 else relative.reshape(1, -1)
    if not flat.size:
        return [], [0, 0]
    flat = np.where(np.isfinite(flat), flat, np.inf)
    steps = [max(1, -(-side // most)) for side, most in zip(flat.shape, (_ROWS, _COLUMNS), strict=True)]
    for axis, step in enumerate(steps):
        flat = np.maximum.reduceat(flat, np.arange(0, flat.shape[axis], step), axis=axis)
    digits = np.clip(np.ceil(np.log10(np.where(flat > 0, flat, 1.0))) + 8, 1, 8)
    digits = np.where(flat == 0, EQUAL, np.where(np.isinf(flat), MISMATCH, digits)).astype(np.int64)
    return ["".join(map(str, row)) for row in digits.tolist()], steps


def _statistics(found: Statistics) -> dict[str, Any]:
    names = ("min", "max", "avg", "l2norm", "zero_count", "nan_count", "negative_inf_count", "positive_inf_count")
    return {name: getattr(found, name) for name in names}
