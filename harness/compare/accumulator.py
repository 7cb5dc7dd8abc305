"""Shared parts of all measurements: what was seen so far, and the largest values."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness import dtypes
from harness.compare.measurement import Element, Measurement
from harness.compare.source import Source

Array = np.ndarray[Any, np.dtype[Any]]


class Peak:
    """The largest number seen, and its flat index."""

    def __init__(self) -> None:
        self.value: Any = 0
        self.at: int | None = None

    def add(self, start: int, numbers: Array) -> Any:
        """Adds a block of finite or infinite numbers that begins at ``start``; returns its largest."""
        at = int(numbers.argmax())  # several times as fast as max
        value = numbers[at].item()
        self.take(start + at, value)
        return value

    def take(self, at: int, value: Any) -> None:
        """Adds one number, at the flat index ``at``."""
        if value > self.value:
            self.value, self.at = value, at

    def add_at(self, start: int, places: Array, numbers: Array) -> None:
        """Adds some numbers of a block: those at the rising indices ``places``."""
        at = int(numbers.argmax())
        value = numbers[at].item()
        if value > self.value:
            self.value, self.at = value, start + int(places[at])


class Accumulator:
    """What has been measured of a pair so far."""

    def __init__(self, dtype: dtypes.DType) -> None:
        self.dtype = dtype
        self.unequal = self.outside = self.nonfinite = 0
        self.abs, self.rel, self.excess = Peak(), Peak(), Peak()
        self.first: int | None = None
        self.first_nonfinite: int | None = None

    def add(self, start: int, expected: Array, found: Array) -> None:
        """Adds a block that begins at the flat index ``start``; both sides 1-D, contiguous, of the dtype."""
        raise NotImplementedError

    def more(self, shape: tuple[int, ...]) -> dict[str, Any]:
        """The fields of ``Measurement`` that only this kind of numbers has."""
        raise NotImplementedError

    def note_unequal(self, start: int, unequal: Array) -> bool:
        """Counts elements whose bits differ; False if there are none."""
        count = int(np.count_nonzero(unequal))
        if count and self.first is None:
            self.first = start + int(unequal.argmax())
        self.unequal += count
        return bool(count)

    def result(self, expected: Source, found: Source) -> Measurement:
        """The measurement of the whole arrays."""
        shape = expected.shape
        candidates = (self.first_nonfinite, self.excess.at, self.abs.at, self.first)
        worst = next((at for at in candidates if at is not None), None)
        place, element = where(worst, shape), None
        if worst is not None and place is not None:
            element = Element(place, expected.item(worst), found.item(worst))
        return Measurement(
            expected.size, self.unequal, self.outside, self.nonfinite, max_rel=float(self.rel.value), worst=element,
            at_abs=where(self.abs.at, shape), at_rel=where(self.rel.at, shape), **self.more(shape),
        )  # fmt: skip


def where(at: int | None, shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """The index of the ``at``-th element in C order."""
    if at is None:
        return None
    index = []
    for length in reversed(shape):
        at, here = divmod(at, length)
        index.append(here)
    return tuple(reversed(index))
