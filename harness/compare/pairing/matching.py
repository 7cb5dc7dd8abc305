"""Pairs the parts of two data flows: anchors by scope and name, then what they feed and what feeds them.

A pair is made only where both sides have no other choice. Values decide nothing but which slots of one side hold the
same. All rules are the same from both sides, so that exchanging the sides exchanges the pairs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterator

import numpy as np

from harness.compare.pairing.colours import Colours, first_colours, of_all, refine
from harness.compare.pairing.flow import Flow, FlowNode
from harness.compare.pairing.kinds import COMMON, LAYOUT, PARAMETER_KIND, UPDATE_KIND, VALUE_KIND
from harness.compare.pairing.neighbours import Side
from harness.compare.pairing.slots import Name

#: How far around a node its colour may look, and how often colours, places and names are asked in turn.
_RADIUS = 6
_ROUNDS = 40
SCOPE, FLOW, NAME = "scope", "flow", "name"
Key = Callable[[FlowNode], Hashable | None]


class Matching:
    """Finds the pairs.

    Args:
        left, right: data flows of one step of both sides.
        by_name: equal full names decide where nothing else does.

    Attributes:
        pairs: indices of nodes of both sides, and what they were paired by.
    """

    def __init__(self, left: Flow, right: Flow, by_name: bool) -> None:
        self._left, self._right = self._sides = Side(left), Side(right)
        self._by_name = by_name
        self._named = [_nodes_by_name(side) for side in self._sides]
        self.pairs: list[tuple[int, int, str]] = []

    def run(self) -> None:
        """Makes all pairs."""
        self._label()
        self._unique(_forward_place, SCOPE)
        self._spread()
        for _ in range(_ROUNDS):
            if not (self._by_colour() or self._by_place() or (self._by_name and self._by_names())):
                break
            self._spread()

    def matched(self, side: int) -> Collection[int]:
        """The nodes of a side (0 is the left one) that are paired."""
        return self._sides[side].partner.keys()

    def candidates(self) -> Iterator[tuple[int, int]]:
        """Free nodes of both sides that might be pairs, by what they see, or else by where they stand.

        Of those at one place each is named with the first of the other side.
        """
        unseen: list[dict[Hashable, list[int]]] = []
        for side in self._sides:
            unseen.append(_grouped(side, _place_and_size))
        for at in list(self._left.free()):
            node = self._left.nodes[at]
            if node.kind in LAYOUT or node.name is None:
                continue
            seen = self._left.seen.get(at, ())
            found = {other for each in seen for other in self._right.crowd(node.kind, each)}
            yield from ((at, other) for other in sorted(found) if self._may(at, other))
        for place, ones in unseen[0].items():
            others = unseen[1].get(place)
            if others and self._left.nodes[ones[0]].kind not in LAYOUT:
                yield from ((one, others[0]) for one in ones)
                yield from ((ones[0], other) for other in others)

    def _make(self, one: int, other: int, by: str) -> None:
        pair = len(self.pairs)
        self.pairs.append((one, other, by))
        self._left.note(one, other, pair)
        self._right.note(other, one, pair)
        kind = self._left.nodes[one].kind
        for seen in (self._left.seen.get(one, ()), self._right.seen.get(other, ())):
            for side in self._sides:
                side.rivals(kind, seen)

    # Anchors

    def _label(self) -> None:
        """Parameters, and values that are parameters, by their names."""
        self._without_wrapping()
        self._unique(lambda node: (node.kind, node.label) if node.label else None, NAME)

    def _without_wrapping(self) -> None:
        """One side's network may stand within another cell: all its scopes and parameters are further inside then."""
        names = [{node.label for node in side.nodes if node.kind == PARAMETER_KIND} for side in self._sides]
        paths = [{"/".join(node.path) for node in side.nodes if node.path} for side in self._sides]
        outer = _without_prefix(names[0], names[1], "_"), _without_prefix(paths[0], paths[1], "/")
        for side, prefix, above in zip(self._sides, *outer, strict=True):
            for node in side.nodes if prefix or above else ():
                node.label = node.label.removeprefix(prefix)
                if node.path is not None and above and f"{'/'.join(node.path)}/".startswith(above):
                    node.path = node.path[above.count("/") :]

    def _unique(self, key: Key, by: str) -> bool:
        """Pairs free nodes that alone have a key on both sides; whether there were any."""
        return self._unique_of([_grouped(side, key) for side in self._sides], by)

    def _unique_of(self, groups: list[dict[Hashable, list[int]]], by: str) -> bool:
        alone = [
            (ones[0], others[0])
            for each, ones in groups[0].items()
            if len(ones) == len(others := groups[1].get(each, [])) == 1
        ]
        alike = self._connected if by == FLOW else self._seen_alike
        chosen = [pair for pair in alone if self._may(*pair) and alike(*pair)]
        for one, other in chosen:
            self._make(one, other, by)
        return bool(chosen)

    def _seen_alike(self, one: int, other: int) -> bool:
        """Whether names may decide: of common kinds only where both have the same paired neighbours."""
        seen = [side.seen.get(at, set()) for side, at in zip(self._sides, (one, other), strict=True)]
        if self._left.nodes[one].path == () and not self._connected(one, other):  # of no cell: a place says nothing
            return False
        return self._left.nodes[one].kind not in COMMON or seen[0] == seen[1]

    def _connected(self, one: int, other: int) -> bool:
        """Whether both see one paired neighbour in the same way, or one of them sees none and no name speaks against
        it."""
        seen = [side.seen.get(at, set()) for side, at in zip(self._sides, (one, other), strict=True)]
        return bool(seen[0] & seen[1]) or (not (seen[0] and seen[1]) and not self._named_otherwise(one, other))

    def _named_otherwise(self, one: int, other: int) -> bool:
        """Whether a free node of one side has the name of the other side's, which is not that of its own."""
        if not self._by_name or self._left.nodes[one].name == self._right.nodes[other].name:
            return False
        names = self._right.nodes[other].name, self._left.nodes[one].name
        return any(
            at not in side.partner
            for side, named, name in zip(self._sides, self._named, names, strict=True)
            for at in named.get(name, ())
        )

    def _by_place(self) -> bool:
        """Free nodes alone in their scope with their kind, if what is paired there is paired within that scope."""
        elsewhere: set[Hashable] = set()
        for one, other, _ in self.pairs:
            places = _place(self._left.nodes[one]), _place(self._right.nodes[other])
            if places[0] != places[1]:
                elsewhere.update(places)
        return self._unique(lambda node: None if (place := _place(node)) in elsewhere else place, SCOPE)

    def _by_names(self) -> bool:
        """Free nodes of equal names, if all pairs keep the number of their name, and all of a name have their numbers.

        What a release or a device numbers otherwise has other numbers elsewhere, too.
        """
        for one, other, _ in self.pairs:
            names = self._left.nodes[one].name, self._right.nodes[other].name
            if names[0] and names[1] and names[0] != names[1] and _stem(names[0]) == _stem(names[1]):
                return False
        whole = [_numbers(side) for side in self._sides]

        def key(node: FlowNode) -> Hashable | None:
            if node.name is None or whole[0].get(_stem(node.name)) != whole[1].get(_stem(node.name)):
                return None
            return node.name, node.kind

        return self._unique(key, NAME)

    # What neighbours say

    def _spread(self) -> None:
        """Pairs neighbours of paired nodes for as long as there is one choice only; the strict rule goes first."""
        waiting: tuple[set[int], set[int]] = set(), set()
        while True:
            strict = any(side.changed for side in self._sides)
            look: list[set[int]] = []
            for side, left in zip(self._sides, waiting, strict=True):
                look.append(set(side.changed) if strict else set(left))
                left.clear() if not strict else left.update(side.changed)
                side.changed.clear()
            if not any(look):
                return
            for one, other in self._mutual(look, strict):
                self._make(one, other, FLOW)

    def _mutual(self, look: list[set[int]], strict: bool) -> list[tuple[int, int]]:
        """The pairs, of some nodes of the left side or some of the right, where each is the other's only choice."""
        pairs = set()
        for at in self._left.those_free(look[0]):
            found = self._best(self._left, self._right, at, strict)
            if found is not None and self._best(self._right, self._left, found, strict) == at:
                pairs.add((at, found))
        known = {found for _, found in pairs}
        for at in self._right.those_free(look[1] - known):
            found = self._best(self._right, self._left, at, strict)
            if found is not None and self._best(self._left, self._right, found, strict) == at:
                pairs.add((found, at))
        return sorted(pairs)

    def _best(self, here: Side, there: Side, at: int, strict: bool) -> int | None:
        """The one candidate that sees more of what ``at`` sees than any other, all that those see included."""
        candidates = self._candidates(here, there, at, strict)
        if len(candidates) < 2:
            return candidates[0] if candidates else None
        shared = {each: here.seen[at] & there.seen[each] for each in candidates}
        best = max(candidates, key=lambda each: len(shared[each]))
        if all(shared[each] < shared[best] for each in candidates if each != best):
            return best
        return None

    def _candidates(self, here: Side, there: Side, at: int, strict: bool) -> list[int]:
        kind = here.nodes[at].kind
        found = {each for seen in here.seen[at] for each in there.crowd(kind, seen)}
        return [each for each in sorted(found) if self._fit(here, there, at, each, strict)]

    def _fit(self, here: Side, there: Side, at: int, other: int, strict: bool) -> bool:
        one, two = (at, other) if here is self._left else (other, at)
        if not self._may(one, two):
            return False
        if here.nodes[at].kind not in COMMON:
            return True
        shared = here.seen[at] & there.seen[other]
        into = [{each for each in side.seen[node] if each[0] == "from"} for side, node in ((here, at), (there, other))]
        if strict:
            return bool(into[0]) and into[0] == into[1] and self._all_seen(here, at) and self._all_seen(there, other)
        joined = here.nodes[at].joined or there.nodes[other].joined
        return {each[0] for each in shared} == {"from", "to"} or (joined and bool(shared))

    @staticmethod
    def _all_seen(side: Side, at: int) -> bool:
        return all(edge.other in side.partner for edge in side.nodes[at].ins if edge.port[-1] != "~")

    def _may(self, one: int, other: int) -> bool:
        """Whether a pair contradicts neither the kinds and sizes nor the pairs there are."""
        left, right = self._left.nodes[one], self._right.nodes[other]
        if left.kind != right.kind or not _sizes_agree(left, right):
            return False
        if left.kind in LAYOUT and left.backward != right.backward:  # both may lay out one value anew
            return False
        mine, its = self._left.roots(one), self._right.roots(other)
        return not any(_contradict(mine[port], its[port]) for port in mine if port in its)

    # Colours

    def _by_colour(self) -> bool:
        """Free nodes that alone have a kind, or a neighbourhood, on both sides."""
        if self._unique(_kind_and_size, FLOW):
            return True
        for ways in (("ins", "outs"), ("ins",), ("outs",)):
            colours = [first_colours(side) for side in self._sides]
            count = 0
            for _ in range(_RADIUS):
                colours = [refine(side, each, ways) for side, each in zip(self._sides, colours, strict=True)]
                if self._unique_colours(colours, whole=len(ways) == 2):
                    return True
                last, count = count, sum(each.count() for each in colours)
                if count == last:
                    break
        return self._by_whole()

    def _by_whole(self) -> bool:
        """Where all that is free is built alike on both sides, to the last node: what alone stands where it stands.

        Where one side has a node more, another place may be the same node; nothing is paired then.
        """
        left, right = (of_all(side) for side in self._sides)
        if left is None or right is None or not np.array_equal(left.sorted(), right.sorted()):
            return False
        return self._unique_colours([left, right], whole=True)

    def _unique_colours(self, colours: list[Colours], whole: bool) -> bool:
        groups: list[dict[Hashable, list[int]]] = []
        for side, found in zip(self._sides, colours, strict=True):
            places: dict[Hashable, list[int]] = defaultdict(list)
            for at, colour in found.items():
                node = side.nodes[at]
                if node.name is not None and (whole or node.kind not in COMMON):
                    places[colour].append(at)
            groups.append(places)
        return self._unique_of(groups, FLOW)


def _grouped(side: Side, key: Key) -> dict[Hashable, list[int]]:
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for at in side.free():
        found = key(side.nodes[at])
        if found is not None:
            groups[found].append(at)
    return groups


def _without_prefix(left: set[str], right: set[str], mark: str) -> tuple[str, str]:
    """What to take off the names of each side so that more of them are those of the other: of one side at most.

    Args:
        mark: ends a component of a name.
    """
    found = [(0, 0, "", ("", ""))]
    for at, (longer, shorter) in enumerate(((left, right), (right, left))):
        ends = {name.rpartition(mark)[2] for name in shorter}
        prefixes = {n[: i + 1] for n in longer if n.rpartition(mark)[2] in ends for i, c in enumerate(n) if c == mark}
        for prefix in prefixes:
            count = len({name.removeprefix(prefix) for name in longer} & shorter) - len(left & right)
            # States have longer names (``moments_``).
            found.append((count, -len(prefix), prefix, ("", prefix) if at else (prefix, "")))
    return max(found, key=lambda each: each[:3])[3]


def _place(node: FlowNode) -> Hashable | None:
    """Scope and kind, where a name says where it stands."""
    if node.path is None or node.kind in (PARAMETER_KIND, VALUE_KIND, UPDATE_KIND):
        return None
    return node.kind, node.path, node.backward


def _nodes_by_name(side: Side) -> dict[Name | None, list[int]]:
    found: dict[Name | None, list[int]] = defaultdict(list)
    for at, node in enumerate(side.nodes):
        if node.name is not None:
            found[node.name].append(at)
    return found


def _stem(name: Name) -> str:
    """An operator's name without its number."""
    return name.operator.rpartition("-op")[0] or name.operator


def _numbers(side: Side) -> dict[str, set[Name]]:
    """The names of each stem."""
    found: dict[str, set[Name]] = defaultdict(set)
    for node in side.nodes:
        if node.name is not None:
            found[_stem(node.name)].add(node.name)
    return found


def _place_and_size(node: FlowNode) -> Hashable | None:
    place = _place(node)
    return None if place is None else (place, node.counts)


def _forward_place(node: FlowNode) -> Hashable | None:
    """As ``_place``, of operators of the forward that are no common ones: MindSpore's gradients stand anywhere."""
    return None if node.backward or not node.path or node.kind in COMMON else _place(node)


def _sizes_agree(left: FlowNode, right: FlowNode) -> bool:
    if left.counts == right.counts:
        return True
    its = dict(right.counts)
    return all(its.get(port, count) == count for port, count in left.counts)


def _contradict(mine: list[int], its: list[int]) -> bool:
    """Whether what made the inputs of a port is known on both sides, and is not the same."""
    return -1 not in mine and -1 not in its and len(mine) == len(its) and sorted(mine) != sorted(its)


def _kind_and_size(node: FlowNode) -> Hashable | None:
    """Of operators only: a parameter is told by its name or its users."""
    if node.kind in COMMON or node.name is None or node.kind == PARAMETER_KIND:
        return None
    return node.kind, node.backward, node.counts
