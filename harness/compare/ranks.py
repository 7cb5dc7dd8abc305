"""The ranks on which a slot differs: all of them, some, or one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from harness.compare.verdict import Comparison
from harness.records import SlotKey
from harness.words import counted


class Ranks(NamedTuple):
    """The ranks that have a slot, and those on which it does not hold; in order."""

    having: tuple[int, ...]
    differing: tuple[int, ...]

    def __str__(self) -> str:
        """``on all 4 ranks``, ``on ranks 0-1 of 4``, ``on rank 3 alone of 4``; empty if only one rank has the slot."""
        if len(self.having) < 2 or not self.differing:
            return ""
        if len(self.differing) == len(self.having):
            return f"on all {counted(len(self.having), 'rank')}"
        alone = len(self.differing) == 1
        which = f"rank{'' if alone else 's'} {rank_list(self.differing)}"
        return f"on {which}{' alone' if alone else ''} of {len(self.having)}"


def ranks_of(comparison: Comparison, key: SlotKey) -> Ranks:
    """The ranks on which the slot of ``key`` differs, in the same graph, iteration and execution."""
    having, differing = set[int](), set[int]()
    if comparison.unlisted is not None:
        having.update(comparison.unlisted.having(key))
    for slot in comparison.failures():
        if slot.key[1:] == key[1:]:
            differing.add(slot.key.rank)
    if {step[0] for step in comparison.steps()} == {key.rank}:
        having.add(key.rank)
    else:
        having.update(each.rank for each in comparison.listed() if each[1:] == key[1:])
    return Ranks(tuple(sorted(having)), tuple(sorted(differing)))


def rank_list(ranks: Sequence[int]) -> str:
    """``0-3, 7``."""
    parts: list[list[int]] = []
    for rank in sorted(ranks):
        if parts and rank == parts[-1][1] + 1:
            parts[-1][1] = rank
        else:
            parts.append([rank, rank])
    return ", ".join(f"{first}" if first == last else f"{first}-{last}" for first, last in parts)
