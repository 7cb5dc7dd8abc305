"""Patterns of the expected values at other places: transposed, reversed, shifted, permuted."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import partial
from math import lgamma, log

import numpy as np

from harness.explain.claim import Held, always
from harness.explain.pair import bits
from harness.explain.patterns.base import Array, Claim, Pair, pattern
from harness.words import among

_ROWS = 1 << 16
#: logarithm of so many arrangements of a tensor's values that another one of a few is no chance
_ARRANGED = log(200)
_HELD = "it holds the expected values"


@pattern("transposed")
def transposed(pair: Pair) -> Iterator[Claim]:
    """Axes in another order."""
    if not _shuffled(pair, few=True) or not 2 <= pair.e.ndim <= 5:
        return
    for axes in itertools.permutations(range(pair.e.ndim)):
        if axes != tuple(range(pair.e.ndim)):
            text = f"{_HELD} with axes in the order {list(axes)}: another layout"
            yield Claim("transposed", "transpose", {"axes": axes}, always(text))


@pattern("reversed")
def reversed_(pair: Pair) -> Iterator[Claim]:
    """Back to front along an axis."""
    for axis in range(pair.e.ndim):
        if pair.e.shape[axis] > 1:
            text = f"{_HELD} back to front along axis {axis}"
            yield Claim("reversed", "flip", {"axis": axis}, always(text))


@pattern("shifted")
def shifted(pair: Pair) -> Iterator[Claim]:
    """Moved along an axis by a few places."""
    for axis in range(pair.e.ndim):
        length = pair.e.shape[axis]
        e = np.moveaxis(pair.e, axis, 0)
        for by in (1, -1, 2, -2):
            if length < abs(by) + 2:
                continue
            where = {"axis": axis, "by": by}
            moved = f"{_HELD} moved by {by} along axis {axis}"
            yield Claim("shifted", "roll", where, always(f"{moved}, around the end"))
            if _varies(e[:-by] if by > 0 else e[-by:]):
                yield Claim("shifted", "shift", where, partial(_slice_off, moved=moved, by=by))


def _slice_off(held: Held, moved: str, by: int) -> str:
    some = among(held.near, held.count, "element", "are")
    return f"{moved}: a slice off by {abs(by)} ({some} as expected there)"


@pattern("permuted")
def permuted(pair: Pair) -> Iterator[Claim]:
    """Slices along an axis, or single values, in another order."""
    if not _shuffled(pair):
        return
    for axis in range(pair.e.ndim):
        length = pair.e.shape[axis]
        if not 2 <= length <= _ROWS or pair.e.size == length:
            continue
        order = _order_of_rows(*(_rows(side, axis, length) for side in (pair.expected, pair.found)))
        if order is not None:
            moved = [at for at, whence in enumerate(order) if at != whence]
            some = ", ".join(map(str, moved[:4])) + (", ..." if len(moved) > 4 else "")
            text = f"it holds the expected slices of axis {axis} in another order (at {some})"
            yield Claim("permuted", "rearrange", {"axis": axis, "order": order}, always(text))
    places = np.empty(pair.found.size, np.intp)
    one, other = (np.argsort(bits(side), axis=None, kind="stable") for side in (pair.expected, pair.found))
    places[other] = one
    yield Claim("permuted", "rearrange", {"axis": None, "order": places}, always(f"{_HELD} in another order"))


def _rows(side: Array, axis: int, length: int) -> list[bytes]:
    moved = np.ascontiguousarray(np.moveaxis(side, axis, 0)).reshape(length, -1)
    return [row.tobytes() for row in moved]


def _order_of_rows(expected: list[bytes], found: list[bytes]) -> list[int] | None:
    """The expected row that each found one is; where it can, a row stays in its place. None if there is another row."""
    places: dict[bytes, list[int]] = {}
    for at, row in enumerate(expected):
        if row != found[at]:
            places.setdefault(row, []).append(at)
    order = list(range(len(found)))
    for at, row in enumerate(found):
        if row != expected[at]:
            if not places.get(row):
                return None
            order[at] = places[row].pop(0)
    return order


def _shuffled(pair: Pair, few: bool = False) -> bool:
    """Whether both hold the same values, of which there are several; with ``few`` one or two suffice, if there are many
    ways to arrange them."""
    if pair.found.size < 3:
        return False
    one, other = (np.sort(bits(side), axis=None) for side in (pair.expected, pair.found))
    if not np.array_equal(one, other):
        return False
    counts = np.unique(one, return_counts=True)[1]
    # A mask of two values with equal counts is not a permutation of the other.
    return bool(len(counts) > 2 or (few and lgamma(one.size + 1) - sum(lgamma(n + 1) for n in counts) > _ARRANGED))


def _varies(rows: Array) -> bool:
    """Whether there are enough slices that differ from one another, so that a shift can be seen."""
    flat = rows.reshape(rows.shape[0], -1)
    return bool(rows.shape[0] > 1 and (flat != flat[0]).any() and np.count_nonzero(flat) >= 3)
