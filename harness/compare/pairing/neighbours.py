"""One side of a matching: which parts are paired, and what each sees of paired neighbours."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from harness.compare.pairing.flow import Flow
from harness.compare.pairing.kinds import LAYOUT, PARAMETER_KIND, VALUE_KIND

#: More nodes than this of one kind beside one neighbour are not told apart by it.
_CROWD = 32
_UNMADE = (VALUE_KIND, PARAMETER_KIND)
#: An edge to a paired neighbour, as both sides see it: ``from`` or ``to`` it, the ports here and there, the pair.
Seen = tuple[str, str, str, int]


class Side:
    """One side's nodes, which of them are paired, and what each sees of paired neighbours."""

    def __init__(self, flow: Flow) -> None:
        self.nodes = flow.nodes
        self.partner: dict[int, int] = {}
        self.pair: dict[int, int] = {}
        self.seen: dict[int, set[Seen]] = defaultdict(set)
        self.beside: dict[tuple[str, Seen], list[int]] = defaultdict(list)
        self.changed: set[int] = set()
        self._joined: dict[str, list[list[tuple[int, int, bool]]]] = {}

    def joined(self, way: str) -> list[list[tuple[int, int, bool]]]:
        """Of each node, the ``ins`` or ``outs`` that colours are told by: ports, other end, whether that is made."""
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

    def free(self) -> Iterator[int]:
        return (at for at in range(len(self.nodes)) if at not in self.partner)

    def note(self, at: int, partner: int, pair: int) -> None:
        """``at`` is paired now; its neighbours see it, and those that it competed with have one choice less."""
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
        """The pairs of what made each port's inputs; -1 for what is not paired, or no operator."""
        found: dict[str, list[int]] = {}
        for edge in self.nodes[at].ins:
            if edge.port[-1] != "~":
                made = -1 if self.nodes[edge.other].kind in _UNMADE else self.pair.get(edge.other, -1)
                found.setdefault(edge.port, []).append(made)
        return found

    def rivals(self, kind: str, seen: Iterable[Seen]) -> None:
        """Nodes of a kind that see any of that are to be looked at again."""
        for each in seen:
            self.changed.update(self.crowd(kind, each))

    def crowd(self, kind: str, seen: Seen) -> list[int]:
        """The free nodes of a kind that see that; none where there are too many to tell."""
        group = self.beside.get((kind, seen))
        if not group:
            return []
        free = [at for at in group if at not in self.partner]
        if len(free) < len(group):
            self.beside[kind, seen] = free
        return free if len(free) <= _CROWD else []
