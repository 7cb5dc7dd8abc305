"""Histograms of sizes as pictures: over time for each layer, and over depth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from harness.inspect.run import Slot
from harness.report.rasters import indexed

Array = np.ndarray[Any, np.dtype[Any]]
#: decimal logarithms of the edges; above the first row stands what is not finite, below the last one zero
EDGES = np.arange(4.0, -12.5, -0.5)
#: layers and steps that are drawn at most, spread evenly
LAYERS, STEPS = 48, 96


def histogram(array: Array) -> Array:
    """Shares of the elements by size, float64: not finite, 10^4 and more, ..., under 10^-12, zero; they sum to 1."""
    found = np.zeros(len(EDGES) + 3)
    with np.errstate(all="ignore"):
        sizes = np.log10(np.abs(array.astype(np.float64, copy=False))).reshape(-1)
    bad, zero = ~np.isfinite(sizes) & ~np.isneginf(sizes), np.isneginf(sizes)
    found[0], found[-1] = bad.sum(), zero.sum()
    places = len(EDGES) - np.searchsorted(EDGES[::-1], sizes[~bad & ~zero], side="right")
    found[1:-1] = np.bincount(places, minlength=len(EDGES) + 1)
    return np.asarray(found / max(1, array.size))


def spread(names: Sequence[Any], most: int) -> list[Any]:
    """At most so many of them, the first and the last among them."""
    if len(names) <= most:
        return list(names)
    return [names[round(at * (len(names) - 1) / (most - 1))] for at in range(most)]


def over_time(slots: Mapping[int, Slot], steps: Sequence[int]) -> str:
    """A picture: a column for each step; empty if no values were kept."""
    columns = [_column(slots.get(step)) for step in steps]
    return _drawn(columns)


def over_depth(slots: Sequence[Slot | None]) -> str:
    """A picture: a column for each layer."""
    return _drawn([_column(slot) for slot in slots])


def _column(slot: Slot | None) -> Array | None:
    array = slot.load() if slot is not None and slot.is_floating else None
    return histogram(array) if array is not None and array.dtype.kind == "f" and array.size else None


def _drawn(columns: Sequence[Array | None]) -> str:
    known = [each for each in columns if each is not None]
    if not known:
        return ""
    table = np.full((len(known[0]), len(columns)), np.nan)
    for at, column in enumerate(columns):
        if column is not None:
            table[:, at] = column
    with np.errstate(all="ignore"):
        shares = np.log10(table)
    return indexed(shares, -4.0, 0.0)
