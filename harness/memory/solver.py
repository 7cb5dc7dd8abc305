"""Places each tensor: a first-fit search over a chain of footprints in eight ways; the smallest result is used.

Source: MindSpore 2.10.0 (every offset of its own graphs reproduced). A footprint is a place in memory that grows to
the right; blocks are put into the gaps of the first footprint that has room for them.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise, product
from math import inf
from typing import NamedTuple

import numpy as np

from harness.memory.reuse import Matrix

#: bytes that a less strict separation of footprints must save to be chosen
WORTH_SINGLE = 100 * 1024 * 1024


class TensorRun(NamedTuple):
    """Tensors that follow one another, placed as one.

    Attributes:
        members: indices of its tensors, from the left.
        sizes: bytes of each of them.
        peak: how much of the busiest moment's memory it may share; the second order of placing uses it.
    """

    members: tuple[int, ...]
    sizes: tuple[int, ...]
    peak: int = 0

    @property
    def size(self) -> int:
        """Bytes of the whole block."""
        return sum(self.sizes)


class Placed(NamedTuple):
    """A block from ``start`` up to (not including) ``end``; ``bits`` are those of its tensors."""

    start: int
    end: int
    block: TensorRun
    bits: int


@dataclass(slots=True)
class _Footprint:
    """A range of memory from ``offset`` on, the bits of its first block's tensors, and what lies in it, by start."""

    offset: int
    first: int = 0
    placed: list[Placed] = field(default_factory=list)


class Solution(NamedTuple):
    """Offset of every tensor, the bytes they take together, and which of the eight it is, from 1."""

    offsets: dict[int, int]
    total: int
    number: int


class Conflicts:
    """Which blocks must not overlap: a bit for each tensor, in whole numbers.

    Args:
        shares: which tensors may lie in the same bytes, shape (tensors, tensors).
    """

    def __init__(self, shares: Matrix) -> None:
        rows = np.packbits(~shares, axis=1, bitorder="little")
        self._rows = [int.from_bytes(row.tobytes(), "little") for row in rows]

    def of(self, block: TensorRun) -> int:
        """Bits of the tensors that must not overlap with some member of ``block``."""
        found = 0
        for member in block.members:
            found |= self._rows[member]
        return found


def solve(blocks: Sequence[TensorRun], shares: Matrix) -> Solution:
    """The least of the eight solutions; of equal ones the first.

    Args:
        blocks: what is to be placed; every block takes memory.
        shares: which tensors may lie in the same bytes.
    """
    found = _solved(tuple(blocks), shares.shape[0], np.packbits(shares).tobytes())
    return found._replace(offsets=dict(found.offsets))


@lru_cache(maxsize=64)
def _solved(blocks: tuple[TensorRun, ...], tensors: int, packed: bytes) -> Solution:
    """``solve``; a test that compiles the same network for each mode asks for the same each time.

    Args:
        tensors, packed: the relation: its rows, and its bits one after the other.
    """
    bits = np.unpackbits(np.frombuffer(packed, np.uint8), count=tensors * tensors)
    shared, single = all_solutions(blocks, bits.reshape(tensors, tensors).astype(bool))
    best, other = min(shared, key=_total), min(single, key=_total)
    return other if other.total + WORTH_SINGLE < best.total else best


def all_solutions(blocks: Sequence[TensorRun], shares: Matrix) -> tuple[list[Solution], list[Solution]]:
    """Four with blocks kept in the range of the first they share with, four with one range for all."""
    conflicts = Conflicts(shares)
    found = []
    for number, (shared, by_peak, tightest) in enumerate(product((True, False), (False, True), (True, False)), 1):
        offsets, total = _place(_ordered(blocks, by_peak), conflicts, shared, tightest)
        found.append(Solution(offsets, total, number))
    return found[:4], found[4:]


def _total(solution: Solution) -> int:
    return solution.total


def _ordered(blocks: Sequence[TensorRun], by_peak: bool) -> list[TensorRun]:
    return sorted(blocks, key=lambda b: (b.peak if by_peak else 0, -b.size, b.members[0]))


def _place(
    blocks: Sequence[TensorRun], conflicts: Conflicts, shared: bool, tightest: bool
) -> tuple[dict[int, int], int]:
    """Offsets of all tensors and the bytes used, placing the blocks in the order given.

    Args:
        shared: a block goes into a range only if it shares with the first there, and must not leave it.
        tightest: into the smallest gap that holds it, else into the lowest.
    """
    chain = [_Footprint(0)]
    offsets: dict[int, int] = {}
    for block in blocks:
        start = _put(block, conflicts.of(block), chain, shared, tightest)
        for member, size in zip(block.members, block.sizes, strict=True):
            offsets[member] = start
            start += size
    return offsets, chain[-1].offset


def _put(block: TensorRun, against: int, chain: list[_Footprint], shared: bool, tightest: bool) -> int:
    """Puts a block into the first range with room for it; the empty range at the end takes everything."""
    for place, following in pairwise(chain):
        if shared and against & place.first:
            continue
        start = _gap(block, against, place, following.offset if shared else None, tightest)
        if start is not None:
            following.offset = max(following.offset, start + block.size)
            break
    else:
        place = chain[-1]
        start, place.first = place.offset, _bits(block.members)
        chain.append(_Footprint(start + block.size))
    insort(place.placed, Placed(start, start + block.size, block, _bits(block.members)))
    return start


@lru_cache(maxsize=16384)
def _bits(members: tuple[int, ...]) -> int:
    return sum(1 << member for member in members)


def _gap(block: TensorRun, against: int, place: _Footprint, end: int | None, tightest: bool) -> int | None:
    """Start of the gap chosen between what ``block`` must not overlap with; None where none is large enough.

    Args:
        end: where the range ends; None where it may grow.
    """
    best: tuple[float, int] | None = None
    at, size = place.offset, block.size
    limits = [(p.start, p.end) for p in place.placed if against & p.bits]
    for start, stop in [*limits, (end, at)]:
        room = inf if start is None else start - at
        if room >= size and (best is None or (tightest and room < best[0])):
            best = room, at
        at = max(at, stop)
    return None if best is None else best[1]
