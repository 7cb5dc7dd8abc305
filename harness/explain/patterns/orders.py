"""Patterns of the expected values at other places: transposed, reversed, shifted, permuted."""

from __future__ import annotations

import itertools

import numpy as np

from harness.explain.patterns.base import Array, Pair, pattern

_ROWS = 1 << 16


@pattern("transposed")
def transposed(pair: Pair) -> str | None:
    """Axes in another order."""
    if not _shuffled(pair) or not 2 <= pair.e.ndim <= 5:
        return None
    for axes in itertools.permutations(range(pair.e.ndim)):
        if axes == tuple(range(pair.e.ndim)):
            continue
        if np.array_equal(pair.e.transpose(axes).reshape(-1), pair.f.reshape(-1), equal_nan=True):
            return f"it holds the expected values with axes in the order {list(axes)}: another layout"
    return None


@pattern("reversed")
def reversed_(pair: Pair) -> str | None:
    """Back to front along an axis."""
    for axis in range(pair.e.ndim):
        if pair.e.shape[axis] > 1 and np.array_equal(np.flip(pair.e, axis), pair.f, equal_nan=True):
            return f"it holds the expected values back to front along axis {axis}"
    return None


@pattern("shifted")
def shifted(pair: Pair) -> tuple[str, bool] | None:
    """Moved along an axis by a few places."""
    for axis in range(pair.e.ndim):
        length = pair.e.shape[axis]
        e, f = np.moveaxis(pair.e, axis, 0), np.moveaxis(pair.f, axis, 0)
        for by in (1, -1, 2, -2):
            if length < abs(by) + 2:
                continue
            if np.array_equal(np.roll(e, by, 0), f, equal_nan=True):
                return f"it holds the expected values moved by {by} along axis {axis}, around the end", True
            kept, came = (e[:-by], f[by:]) if by > 0 else (e[-by:], f[:by])
            if np.array_equal(kept, came, equal_nan=True) and _varies(kept):
                return f"it holds the expected values moved by {by} along axis {axis}: a slice off by {abs(by)}", False
    return None


@pattern("permuted")
def permuted(pair: Pair) -> str | None:
    """Slices along an axis, or single values, in another order."""
    if not _shuffled(pair):
        return None
    for axis in range(pair.e.ndim):
        length = pair.e.shape[axis]
        if not 2 <= length <= _ROWS or pair.e.size == length:
            continue
        e, f = (np.ascontiguousarray(np.moveaxis(side, axis, 0)).reshape(length, -1) for side in (pair.e, pair.f))
        one, other = ({row.tobytes() for row in side} for side in (e, f))
        if one == other and len(one) > 1:
            moved = np.flatnonzero((e != f).any(axis=1))
            some = ", ".join(map(str, moved[:4])) + (", ..." if len(moved) > 4 else "")
            return f"it holds the expected slices of axis {axis} in another order (at {some})"
    if len(np.unique(pair.e)) < 3:
        return None
    return "it holds the expected values in another order"


def _shuffled(pair: Pair) -> bool:
    """Whether both hold the same values, of which there are several."""
    if pair.e.size < 3 or not np.array_equal(np.sort(pair.e, axis=None), np.sort(pair.f, axis=None), equal_nan=True):
        return False
    # A mask of two values with equal counts is not a permutation of the other.
    return len(np.unique(pair.e)) > 2


def _varies(rows: Array) -> bool:
    """Whether there are enough slices that differ from one another, so that a shift can be seen."""
    flat = rows.reshape(rows.shape[0], -1)
    return bool(rows.shape[0] > 1 and (flat != flat[0]).any() and np.count_nonzero(flat) >= 3)
