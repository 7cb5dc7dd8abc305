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
        found = self.sorted()
        return int(np.count_nonzero(found[1:] != found[:-1])) + (len(found) > 0)

    def sorted(self) -> Array:
        """All of them, equal ones as often as they are there."""
        return np.sort(self.of[self.at])

    def sure(self, among: Array) -> Array:
        """The free nodes ``among`` some (bool, of every node) whose colours are known."""
        return self.at[self.known[self.at] & among[self.at]]


def once_on_both(numbers: Sequence[Array], nodes: Sequence[Array]) -> tuple[Array, Array]:
    """The nodes whose number only one node of each side has, in the order of those of the left side.

    Args:
        numbers: of each side, of every node.
        nodes: of each side, those that count.
    """
    found = [each[at] for each, at in zip(numbers, nodes, strict=True)]
    both = np.intersect1d(_once(found[0]), _once(found[1]), assume_unique=True)
    left, right = (_where(each, both, at) for each, at in zip(found, nodes, strict=True))
    order = np.argsort(left)
    return left[order], right[order]


def _once(numbers: Array) -> Array:
    """Those that are there once, sorted."""
    found = np.sort(numbers)
    differs = np.ones(len(found) + 1, bool)
    differs[1:-1] = found[1:] != found[:-1]
    return found[differs[1:] & differs[:-1]]


def _where(numbers: Array, wanted: Array, nodes: Array) -> Array:
    """For each of some sorted numbers that are there once, its node."""
    if not len(wanted):
        return nodes[:0]
    at = np.searchsorted(wanted, numbers)
    at[at == len(wanted)] = 0
    is_wanted = wanted[at] == numbers
    out = np.empty_like(wanted, np.int64)
    out[at[is_wanted]] = nodes[is_wanted]
    return out


def _mixed(x: Array) -> Array:
    """A bijection of 64-bit numbers whose results look drawn (splitmix64)."""
    x = x + _STEP
    x = (x ^ (x >> _SHIFTS[0])) * _FIRST
    x = (x ^ (x >> _SHIFTS[1])) * _SECOND
    return np.asarray(x ^ (x >> _SHIFTS[2]))


def first_colours(side: Side) -> Colours:
    """What each node is, without its neighbours."""
    free = side.is_free()
    return Colours(free.nonzero()[0], _mixed(~side.looks.astype(np.uint64)), np.ones(len(free), bool))


def refine(side: Side, colours: Colours, ways: Sequence[str]) -> Colours:
    """Colours that also depend on the neighbours' colours.

    The beginning and the end of a run carry no information, because another run may begin earlier: nodes near them are
    unknown.
    """
    pairs = side.pairs
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
    """Of each free node, a colour of all that lies in one direction; paired neighbours, and values, which nothing made,
    stand for themselves."""
    edges, pairs, free = side.edges(way), side.pairs, side.is_free()
    inner = free[edges.here] & free[edges.other] & edges.is_made
    start = first.of + edges.summed(np.where(inner, np.uint64(0), _beyond(edges, first.of, pairs)))
    walked = inner & ~side.values[edges.here]
    colours = np.zeros(edges.count, np.uint64)
    if not _walk(colours, _mixed(start), free & ~side.values, edges, walked):
        return None
    return _mixed(start + edges.summed(np.where(inner, _beyond(edges, colours, pairs), np.uint64(0))))


def _walk(colours: Array, start: Array, nodes: Array, edges: Edges, chosen: Array) -> bool:
    """Sets the colours of nodes whose colours depend on one another by some edges; returns False if there is a circle.

    Args:
        start: what each node's colour depends on beside those.
        nodes: of every node, whether it is one of them.
    """
    here, other, ports = (each[chosen] for each in (edges.here, edges.other, edges.ports.astype(np.int64)))
    order = np.argsort(other, kind="stable")
    users, said = here[order].tolist(), ports[order].tolist()
    behind = np.searchsorted(other[order], np.arange(edges.count + 1)).tolist()
    waits = np.bincount(here, minlength=edges.count).tolist()
    starts, sums, at_all = start.tolist(), [0] * edges.count, nodes.nonzero()[0].tolist()
    ready = [at for at in at_all if not waits[at]]
    done = []
    for at in ready:  # grows
        colour = hash((starts[at], sums[at]))
        done.append(colour)
        for edge in range(behind[at], behind[at + 1]):
            user = users[edge]
            sums[user] += hash((said[edge], colour))
            waits[user] -= 1
            if not waits[user]:
                ready.append(user)
    colours[ready] = np.array(done, np.int64).view(np.uint64)
    return len(ready) == len(at_all)
