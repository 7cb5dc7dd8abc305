"""One side of a matching: its paired parts, and the paired neighbours that each part sees."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.compare.pairing.flow import Flow
from harness.compare.pairing.kinds import COMMON, LAYOUT, PARAMETER_KIND, VALUE_KIND

Array = np.ndarray[Any, np.dtype[Any]]

#: A neighbour with more nodes of one kind than this does not distinguish them.
_CROWD = 32
_UNMADE = (VALUE_KIND, PARAMETER_KIND)
#: An edge to a paired neighbour in a form common to both sides: its direction, both ports, and the pair.
Seen = tuple[str, str, str, int]


@dataclass
class Edges:
    """The edges of one direction of all nodes, in arrays: those of a node lie side by side.

    Attributes:
        starts: where the edges of a node begin, of each node that has any (int64).
        users: those nodes.
        ports: what both ends are called (uint64).
        other: the node at the other end.
        is_made: whether that is no value from outside.
        count: how many nodes there are.
    """

    starts: Array
    users: Array
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
    """One side's nodes, which of them are paired, and the paired neighbours that each sees."""

    def __init__(self, flow: Flow) -> None:
        self.nodes = flow.nodes
        self.partner: dict[int, int] = {}
        self.pair: dict[int, int] = {}
        self.seen: dict[int, set[Seen]] = defaultdict(set)
        self.beside: dict[tuple[str, Seen], list[int]] = defaultdict(list)
        self.changed: set[int] = set()
        self._joined: dict[str, list[list[tuple[int, int, bool]]]] = {}
        self._edges: dict[str, Edges] = {}
        self._looks: Array | None = None
        self._operators: dict[bool, Array] = {}

    def joined(self, way: str) -> list[list[tuple[int, int, bool]]]:
        """The ``ins`` or ``outs`` of each node that colours use: ports, other end, and whether an operator made it."""
        if way not in self._joined:
            self._joined[way] = [
                [
                    (hash((way, edge.port, edge.other_port)), edge.other, self.nodes[edge.other].kind != VALUE_KIND)
                    for edge in (node.ins if way == "ins" else node.outs)
                    if edge.port[-1] != "~" and (way == "ins" or self.nodes[edge.other].kind not in LAYOUT)
                ]
                for node in self.nodes
            ]
        return self._joined[way]

    def edges(self, way: str) -> Edges:
        """What ``joined`` gives, in arrays."""
        if way not in self._edges:
            joined = self.joined(way)
            counts = np.array([len(each) for each in joined], np.int64)
            users = counts.nonzero()[0]
            flat = [edge for each in joined for edge in each]
            ports, other, is_made = zip(*flat, strict=True) if flat else ((), (), ())
            starts = (np.cumsum(counts) - counts)[users]
            labels = np.array(ports, np.int64).view(np.uint64)
            arrays = labels, np.array(other, np.int64), np.array(is_made, bool)
            self._edges[way] = Edges(starts, users, *arrays, len(joined))
        return self._edges[way]

    def looks(self) -> Array:
        """Of each node, a number (uint64) that says its kind and what it gives."""
        if self._looks is None:
            looks = [hash((node.kind, node.backward, node.counts)) for node in self.nodes]
            self._looks = np.array(looks, np.int64).view(np.uint64)
        return self._looks

    def operators(self, common: bool) -> Array:
        """Of each node, whether it is an operator's (bool); without ``common``, of no kind that is in every network."""
        if common not in self._operators:
            named = (node.name is not None and (common or node.kind not in COMMON) for node in self.nodes)
            self._operators[common] = np.fromiter(named, bool, len(self.nodes))
        return self._operators[common]

    def pair_numbers(self) -> Array:
        """Of each node, the number of its pair (int64); -1 where it is free."""
        out = np.full(len(self.nodes), -1, np.int64)
        out[list(self.pair)] = list(self.pair.values())
        return out

    def free(self) -> Iterator[int]:
        return (at for at in range(len(self.nodes)) if at not in self.partner)

    def those_free(self, nodes: Iterable[int]) -> list[int]:
        partner = self.partner
        return [at for at in nodes if at not in partner]

    def note(self, at: int, partner: int, pair: int) -> None:
        """Notes that ``at`` is paired: its neighbours see it, and its competitors have one choice less."""
        self.partner[at], self.pair[at] = partner, pair
        for way, edges in (("from", self.nodes[at].outs), ("to", self.nodes[at].ins)):
            for edge in edges:
                if edge.other in self.partner:
                    continue
                seen = (way, edge.other_port, edge.port, pair)
                if seen not in self.seen[edge.other]:
                    self.seen[edge.other].add(seen)
                    self.beside[self.nodes[edge.other].kind, seen].append(edge.other)
                    self.changed.add(edge.other)

    def roots(self, at: int) -> dict[str, list[int]]:
        """The pairs of the makers of each port's inputs; -1 for an unpaired maker, or none."""
        found: dict[str, list[int]] = {}
        for edge in self.nodes[at].ins:
            if edge.port[-1] != "~":
                made = -1 if self.nodes[edge.other].kind in _UNMADE else self.pair.get(edge.other, -1)
                found.setdefault(edge.port, []).append(made)
        return found

    def rivals(self, kind: str, seen: Iterable[Seen]) -> None:
        """Marks the nodes of a kind that see any of these edges for another look."""
        for each in seen:
            self.changed.update(self.crowd(kind, each))

    def crowd(self, kind: str, seen: Seen) -> list[int]:
        """The free nodes of a kind that see this edge; empty if there are too many to tell apart."""
        group = self.beside.get((kind, seen))
        if not group:
            return []
        free = [at for at in group if at not in self.partner]
        if len(free) < len(group):
            self.beside[kind, seen] = free
        return free if len(free) <= _CROWD else []
