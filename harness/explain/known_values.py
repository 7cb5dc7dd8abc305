"""Values for a side that kept digests only, as far as they can be known; each is checked against its digest.

Where both sides have a content, the other side's values are those. What differs may be found from the other side's
values: a single value that the statistics tell, the other side's values moved or scaled, or what the operator gives
when it is computed again. A guess counts only if it has the digest that was kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from itertools import permutations
from math import prod
from typing import Any

import ml_dtypes
import numpy as np

from harness import dtypes
from harness.explain.evidence import MAX_ELEMENTS, Evidence, loaded
from harness.records import Record, SlotKey
from harness.stats import digest

Array = np.ndarray[Any, np.dtype[Any]]

#: tensors of more dimensions are not transposed
_DIMENSIONS = 4
_FACTORS = (-1.0, 2.0, 0.5, 4.0, 0.25, 10.0, 0.1)
_NARROW = (np.float16, ml_dtypes.bfloat16)


class Completed(Evidence):
    """A side whose records without values have the other side's, where both contents are equal.

    Args:
        own: the side.
        other: what it is held against.
    """

    def __init__(self, own: Evidence, other: Evidence) -> None:
        super().__init__(tuple, dict, own.backend, own.emulated)
        self.place = own.place  # type: ignore[method-assign]
        self._own, self._other = own, other

    @cached_property
    def graphs(self) -> Any:
        """What its graphs say."""
        return self._own.graphs

    @cached_property
    def by_key(self) -> dict[SlotKey, Record]:
        """Every record; those without values have what is known of them."""
        kept = {content: r for r in self._other.by_key.values()
                if r.values is not None and (content := self._other.content(r)) is not None}  # fmt: skip
        return {key: _completed(record, kept) for key, record in self._own.by_key.items()}

    def own(self, record: Record) -> Record:
        """A record of a comparison with the values that are known of it."""
        known = self.by_key.get(record.key) if record.values is None else None
        return known if known is not None and known.digest == record.digest else record

    def know(self, record: Record, values: Array | None) -> None:
        """Takes values for those of a record of this side that kept none, if they have its digest."""
        if record.values is None and record is self.by_key.get(record.key) and has_content(record, values):
            record.values = values


def _completed(record: Record, kept: dict[bytes, Record]) -> Record:
    if record.values is not None or not record.proves_bits:  # no values have a digest of statistics
        return record
    known = kept.get(record.digest) if record.digest is not None else None
    return replace(record, values=known.values if known is not None else None)


def completed(expected: Evidence, found: Evidence) -> tuple[Evidence, Evidence]:
    """Both sides; one that lacks values has those of the other that are its own, too."""
    sides = expected, found
    if expected.stated and found.stated:
        return sides
    lacking = [any(record.values is None for record in each.by_key.values()) for each in sides]
    if lacking[0]:
        expected = Completed(sides[0], sides[1])
    if lacking[1]:
        found = Completed(sides[1], sides[0])
    return expected, found


def has_content(record: Record, values: Array | None) -> bool:
    """Whether an array has the dtype, shape and digest of a record."""
    if values is None or record.digest is None or values.shape != record.shape:
        return False
    if values.dtype != dtypes.by_name(record.dtype).numpy:
        return False
    return digest(values, record.dtype) == record.digest


def guess(side: Evidence, record: Record, other: Record) -> None:
    """Lets a side know the values of a record that kept none, where they can be found from its counterpart's."""
    if record.values is None:
        side.know(record, guessed(record, other))


def guessed(record: Record, other: Record) -> Array | None:
    """The values of a record that kept none, found from those of its counterpart; None where no guess has its digest.

    Args:
        record: the one without values.
        other: its counterpart, which may be of another shape.
    """
    if record.digest is None or prod(record.shape) > MAX_ELEMENTS:
        return None
    kind = dtypes.by_name(record.dtype).numpy
    counted = record.extra.statistics or record.extra.row
    most, least = (getattr(counted, name, None) for name in ("max", "min"))
    with np.errstate(all="ignore"):
        if most is not None and most == least:
            made = np.full(record.shape, np.asarray(most).astype(kind), kind)
            if has_content(record, made):
                return made
        values = loaded(other)
        if values is None or values.size != prod(record.shape) or other.dtype != record.dtype:
            return None
        guesses = (np.ascontiguousarray(make()) for make in _guesses(values, record.shape))
        return next((each for each in guesses if has_content(record, each)), None)


def _guesses(values: Array, shape: tuple[int, ...]) -> Iterator[Callable[[], Array]]:
    """What other values may have been: moved, scaled, rounded."""
    axes = range(values.ndim)
    yield lambda: values.reshape(shape)
    for order in permutations(axes) if 1 < values.ndim <= _DIMENSIONS else ():
        yield lambda order=order: values.transpose(order).reshape(shape)  # type: ignore[misc]
    if values.shape != shape:
        return
    for axis in axes:
        yield lambda axis=axis: np.flip(values, axis)  # type: ignore[misc]
        for step in (1, -1):
            yield lambda axis=axis, step=step: np.roll(values, step, axis)  # type: ignore[misc]
        if shape[axis] % 2 == 0:
            yield lambda axis=axis: np.roll(values, shape[axis] // 2, axis)  # type: ignore[misc]
    if values.dtype.kind not in "fV":
        return
    for factor in _FACTORS:
        yield lambda factor=factor: values * values.dtype.type(factor)  # type: ignore[misc]
    for narrow in _NARROW:
        yield lambda narrow=narrow: values.astype(narrow).astype(values.dtype)  # type: ignore[misc]
