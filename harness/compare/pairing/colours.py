"""Colours of what is not paired: equal where kinds and neighbourhoods are.

A colour is a number of 64 bits, mixed of what it says; numbers of all nodes are made at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.compare.pairing.neighbours import Edges, Side

Array = np.ndarray[Any, np.dtype[Any]]

#: odd constants of splitmix64 (Steele, Lea, Flood, 2014)
_STEP, _FIRST, _SECOND = (np.uint64(each) for each in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
_SHIFTS = tuple(np.uint64(each) for each in (30, 27, 31))


@dataclass
class Colours:
    """Of the free nodes of a side.

    Attributes:
        at: the nodes.
        of: of every node of the side, a colour (uint64); of those that are not free it says nothing.
        known: of every node, whether all that its colour says is known.
    """

    at: Array
    of: Array
    known: Array

    def count(self) -> int:
        """How many there are."""
        return len(np.unique(self.of[self.at]))

    def sorted(self) -> Array:
        """All of them, equal ones as often as they are there."""
        return np.sort(self.of[self.at])

    def alone(self, among: Array) -> dict[int, int]:
        """The free nodes that have a known colour which no other one ``among`` them (bool, of every node) has, by that
        colour, in their order."""
        sure = self.at[self.known[self.at] & among[self.at]]
        _, first, counts = np.unique(self.of[sure], return_index=True, return_counts=True)
        single = np.sort(first[counts == 1])
        return dict(zip(self.of[sure[single]].tolist(), sure[single].tolist(), strict=True))


def _mixed(x: Array) -> Array:
    """A bijection of 64-bit numbers whose results look drawn (splitmix64)."""
    x = x + _STEP
    x = (x ^ (x >> _SHIFTS[0])) * _FIRST
    x = (x ^ (x >> _SHIFTS[1])) * _SECOND
    return np.asarray(x ^ (x >> _SHIFTS[2]))


def first_colours(side: Side) -> Colours:
    """What each node is, without its neighbours."""
    free = np.ones(len(side.nodes), bool)
    free[list(side.partner)] = False
    return Colours(free.nonzero()[0], _mixed(side.looks()), np.ones(len(free), bool))


def refine(side: Side, colours: Colours, ways: Sequence[str]) -> Colours:
    """Colours that also depend on the neighbours' colours.

    The beginning and the end of a run carry no information, because another run may begin earlier: nodes near them are
    unknown.
    """
    pairs = side.pair_numbers()
    around, known = np.zeros(len(pairs), np.uint64), colours.known.copy()
    for way in ways:
        edges = side.edges(way)
        paired = pairs[edges.other] >= 0
        around += edges.summed(_beyond(edges, colours.of, pairs))
        known &= edges.any(paired | edges.is_made)
        known &= ~edges.any(~paired & edges.is_made & ~colours.known[edges.other])
    return Colours(colours.at, _mixed(_mixed(colours.of) + around), known)


def _beyond(edges: Edges, colours: Array, pairs: Array) -> Array:
    """What each edge says: its ports, and the pair at its other end, or the colour of what is free there."""
    ends = pairs[edges.other]
    said = np.where(ends >= 0, _mixed(ends.astype(np.uint64)), colours[edges.other])
    return _mixed(edges.ports ^ _mixed(said))


def of_all(side: Side) -> Colours | None:
    """Colours that depend on everything before and after a free node, however far, so that each of many equal layers
    has its own. None if a value leads to itself.
    """
    first = first_colours(side)
    before, behind = _reached(side, first, "ins"), _reached(side, first, "outs")
    if before is None or behind is None:
        return None
    return Colours(first.at, _mixed(_mixed(before) + behind), first.known)


def _reached(side: Side, first: Colours, way: str) -> Array | None:
    """Of each free node, a colour of all that lies in one direction; paired neighbours stand for themselves."""
    joined, pairs = side.joined(way), side.pair
    start, done = first.of.tolist(), [0] * len(side.nodes)
    free = first.at.tolist()
    waits = dict.fromkeys(free, 0)
    behind: dict[int, list[int]] = {}
    for at in free:
        for _, other, _ in joined[at]:
            if other not in pairs:
                waits[at] += 1
                behind.setdefault(other, []).append(at)
    ready = [at for at in free if not waits[at]]
    for at in ready:  # grows
        around = sorted([(ports, pairs[o] if o in pairs else done[o]) for ports, o, _ in joined[at]])
        done[at] = hash((start[at], *around))
        for other in behind.get(at, ()):
            waits[other] -= 1
            if not waits[other]:
                ready.append(other)
    return np.array(done, np.int64).view(np.uint64) if len(ready) == len(free) else None
