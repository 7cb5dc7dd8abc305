"""One side of a matching: its paired parts, and the paired neighbours that each part sees."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.compare.pairing.flow import Flow
from harness.compare.pairing.kinds import COMMON, LAYOUT, PARAMETER_KIND, VALUE_KIND

Array = np.ndarray[Any, np.dtype[Any]]

#: A neighbour with more nodes of one kind than this does not distinguish them.
_CROWD = 32
_UNMADE = (VALUE_KIND, PARAMETER_KIND)
#: An edge to a paired neighbour in a form common to both sides: the pair, the number of the ports, and the direction,
#: which is the last bit: ``FROM`` a maker, or to a taker.
Seen = int
FROM = 0
#: Ports have smaller numbers.
_PORTS = 32


@dataclass
class Edges:
    """The edges of one direction of all nodes, in arrays: those of a node lie side by side.

    Attributes:
        starts: where the edges of a node begin, of each node that has any (int64).
        users: those nodes.
        here: the node of each edge.
        ports: what both ends are called (uint64).
        other: the node at the other end.
        is_made: whether that is no value from outside.
        count: how many nodes there are.
    """

    starts: Array
    users: Array
    here: Array
    ports: Array
    other: Array
    is_made: Array
    count: int

    def summed(self, of_edges: Array) -> Array:
        """Of each node, the sum (uint64, which wraps) of what its edges have."""
        out = np.zeros(self.count, np.uint64)
        if len(self.starts):
            out[self.users] = np.add.reduceat(of_edges, self.starts)
        return out

    def any(self, of_edges: Array) -> Array:
        """Of each node, whether any of its edges has it."""
        out = np.zeros(self.count, bool)
        if len(self.starts):
            out[self.users] = np.logical_or.reduceat(of_edges, self.starts)
        return out


class Side:
    """One side's nodes, which of them are paired, and the paired neighbours that each sees.

    Attributes:
        flow: what is matched.
        kinds, looks: of each node, its kind, and its number (see ``Words``).
        partner: of each node, the other side's; -1 while it is free.
        pair, pairs: of each node, the number of its pair; -1 while it is free (as a list, and as int64).
        seen: what each node sees.
        changed: nodes that see, or compete with, something else than before.
    """

    def __init__(self, flow: Flow) -> None:
        self.flow, self.ins, self._outs = flow, flow.ins, flow.outs
        self._taken = flow.words.ports.taken
        self.kinds = [form.kind for form in flow.forms]
        self.looks = np.array(flow.looks, np.int64)
        self.partner = [-1] * len(self.kinds)
        self.pair = [-1] * len(self.kinds)
        self.pairs = np.full(len(self.kinds), -1, np.int64)
        self.seen: dict[int, set[Seen]] = {}
        self.changed: set[int] = set()
        self._beside: dict[tuple[str, Seen], list[int]] = defaultdict(list)
        self._edges: dict[str, Edges] = {}
        looks = flow.words.looks
        self._are = {  # of each node, whether its kind is one of these
            word: np.array([kind in kinds for kind, *_ in looks], bool)[self.looks]
            for word, kinds in (
                ("value", (VALUE_KIND,)),
                ("parameter", (PARAMETER_KIND,)),
                ("layout", LAYOUT),
                ("common", COMMON),
            )
        }

    def edges(self, way: str) -> Edges:
        """The ``ins`` or ``outs`` of all nodes that colours use."""
        if way not in self._edges:
            joined = self.ins if way == "ins" else self._outs
            chosen = joined.ports % 2 == 0 if way == "ins" else ~self._are["layout"][joined.others]
            here, ports, other = (each[chosen] for each in (joined.heres, joined.ports, joined.others))
            users, starts = np.unique(here, return_index=True)
            labels = ports.astype(np.uint64) * np.uint64(2) + np.uint64(way == "ins")
            self._edges[way] = Edges(starts, users, here, labels, other, ~self.values[other], len(self.kinds))
        return self._edges[way]

    @property
    def parameters(self) -> Array:
        """Of each node, whether it is a parameter (bool)."""
        return self._are["parameter"]

    @property
    def values(self) -> Array:
        """Of each node, whether it is a value from outside (bool)."""
        return self._are["value"]

    def operators(self, common: bool) -> Array:
        """Of each node, whether it is an operator's (bool); without ``common``, of no kind that is in every network."""
        return ~self.values if common else ~self.values & ~self._are["common"]

    def is_free(self) -> Array:
        """Of each node, whether it is free (bool)."""
        return np.asarray(self.pairs < 0)

    def free(self) -> list[int]:
        return [at for at, partner in enumerate(self.partner) if partner < 0]

    def those_free(self, nodes: Iterable[int]) -> list[int]:
        partner = self.partner
        return [at for at in nodes if partner[at] < 0]

    def note(self, nodes: Sequence[int], partners: Sequence[int], first: int) -> None:
        """Notes nodes that are paired, from pair number ``first`` on: their neighbours see it, and their competitors
        have one choice less."""
        partner, kinds, seen, beside = self.partner, self.kinds, self.seen, self._beside
        ins, outs = self.ins.of, self._outs.of
        self.pairs[nodes] = np.arange(first, first + len(nodes))
        for pair, (at, other) in enumerate(zip(nodes, partners, strict=True), first):
            partner[at], self.pair[at] = other, pair
        for pair, at in enumerate(nodes, first):
            for way, edges in ((FROM, outs[at]), (1 - FROM, ins[at])):
                for port, other in edges:
                    if partner[other] >= 0:
                        continue
                    each = pair << (_PORTS + 1) | port << 1 | way
                    mine = seen.get(other)
                    if mine is None:
                        seen[other] = {each}
                    elif each in mine:
                        continue
                    else:
                        mine.add(each)
                    beside[kinds[other], each].append(other)
                    self.changed.add(other)

    def roots(self, at: int) -> dict[str, list[int]]:
        """The pairs of the makers of each port's inputs; -1 for an unpaired maker, or none."""
        found: dict[str, list[int]] = {}
        for port, other in self.ins.of[at]:
            if not port & 1:
                made = -1 if self.kinds[other] in _UNMADE else self.pair[other]
                found.setdefault(self._taken[port >> 1], []).append(made)
        return found

    def rivals(self, kind: str, seen: Iterable[Seen]) -> None:
        """Marks the nodes of a kind that see any of these edges for another look."""
        for each in seen:
            self.changed.update(self.crowd(kind, each))

    def crowd(self, kind: str, seen: Seen) -> list[int]:
        """The free nodes of a kind that see this edge; empty if there are too many to tell apart."""
        group = self._beside.get((kind, seen))
        if not group:
            return []
        free = self.those_free(group)
        if len(free) < len(group):
            self._beside[kind, seen] = free
        return free if len(free) <= _CROWD else []
