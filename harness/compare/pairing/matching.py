"""Pairs the parts of two data flows: first anchors by scope and name, then their takers and makers.

A pair is made only if neither side has another choice. Values are used only to see which slots of one side hold the
same. All rules are symmetric, so that exchanging the sides exchanges the pairs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cached_property

import numpy as np

from harness.compare.pairing.colours import Array, Colours, first_colours, of_all, once_on_both, refine
from harness.compare.pairing.flow import Flow, Numbers
from harness.compare.pairing.kinds import COMMON, LAYOUT, PARAMETER_KIND, UPDATE_KIND, VALUE_KIND
from harness.compare.pairing.neighbours import FROM, Side
from harness.compare.pairing.operators import Counts
from harness.compare.pairing.scopes import ScopePath
from harness.compare.pairing.slots import Name

#: Radius of a node's colour, and number of rounds of colours, places and names.
_RADIUS = 6
_ROUNDS = 40
SCOPE, FLOW, NAME = "scope", "flow", "name"
Key = Callable[[Flow, int], Hashable | None]


class Matching:
    """Finds the pairs.

    Args:
        left, right: data flows of one step on both sides.
        by_name: whether equal full names decide if nothing else does.

    Attributes:
        pairs: indices of nodes on both sides, and the rule that paired them.
    """

    def __init__(self, left: Flow, right: Flow, by_name: bool) -> None:
        self._flows = left, right
        self._left, self._right = self._sides = Side(left), Side(right)
        self._by_name = by_name
        self._places: list[Array] = []
        self.pairs: list[tuple[int, int, str]] = []

    def run(self) -> None:
        """Makes all pairs."""
        self._label()
        self._by_forward_place()
        self._spread()
        for _ in range(_ROUNDS):
            if not all((side.is_free() & side.operators(True)).any() for side in self._sides):
                break
            if not (self._by_colour() or self._by_place() or (self._by_name and self._by_names())):
                break
            self._spread()

    @cached_property
    def _shared(self) -> bool:
        """Whether names may decide, and there is one that both sides have."""
        return self._by_name and not set(self._flows[0].step.names).isdisjoint(self._flows[1].step.names)

    def is_matched(self, side: int, node: int) -> bool:
        """Whether a node of a side (0 is the left one) is paired."""
        return self._sides[side].partner[node] >= 0

    def candidates(self) -> Iterator[tuple[int, int]]:
        """Free nodes of both sides that may be pairs, by their neighbours, or else by their place.

        Each node at a place is listed with the first one of the other side.
        """
        unseen: list[dict[Hashable, list[int]]] = []
        for side in self._sides:
            unseen.append(_by_place_and_size(side))
        for at in self._left.free():
            kind = self._left.kinds[at]
            if kind in LAYOUT or kind == VALUE_KIND:
                continue
            seen = self._left.seen.get(at, ())
            found = {other for each in seen for other in self._right.crowd(kind, each)}
            yield from ((at, other) for other in sorted(found) if self._may(at, other))
        for place, ones in unseen[0].items():
            others = unseen[1].get(place)
            if others and self._left.kinds[ones[0]] not in LAYOUT:
                yield from ((one, others[0]) for one in ones)
                yield from ((ones[0], other) for other in others)

    def _make(self, chosen: Sequence[tuple[int, int]], by: str) -> None:
        if not chosen:
            return
        first, (ones, others) = len(self.pairs), map(list, zip(*chosen, strict=True))
        self.pairs += [(one, other, by) for one, other in chosen]
        self._left.note(ones, others, first)
        self._right.note(others, ones, first)
        for here, nodes in zip(self._sides, (ones, others), strict=True):
            for at in nodes:
                if at in here.seen:
                    for side in self._sides:
                        side.rivals(here.kinds[at], here.seen[at])

    # Anchors

    def _label(self) -> None:
        """Pairs parameters, and values that are parameters, by their names."""
        self._without_wrapping()
        numbers, keys = Numbers(), []
        for side in self._sides:
            keys.append(np.full(len(side.kinds), -1, np.int64))
            for at, label in side.flow.labels.items():
                keys[-1][at] = numbers[side.kinds[at], label] if label else -1
        self._unique(keys, NAME)

    def _by_forward_place(self) -> None:
        """Pairs uncommon forward operators by scope and kind: MindSpore's gradients may stand anywhere."""
        self._places = self._numbered(_place)
        keys = []
        for side, places in zip(self._sides, self._places, strict=True):
            scopes = [bool(scope.path) and not scope.backward for scope in side.flow.scopes]
            told = np.array([*scopes, False], bool)[side.flow.owners]
            keys.append(np.where(told & side.operators(False), places, -1))
        self._unique(keys, SCOPE)

    def _without_wrapping(self) -> None:
        """Removes an outer cell that wraps one side's network, so that its scopes and parameters match."""
        flows = self._flows
        names = [{label for at, label in flow.labels.items() if flow.kind(at) == PARAMETER_KIND} for flow in flows]
        paths = [{"/".join(path) for path in {scope.path for scope in flow.scopes} if path} for flow in flows]
        outer = _without_prefix(names[0], names[1], "_"), _without_prefix(paths[0], paths[1], "/")
        for flow, prefix, above in zip(flows, *outer, strict=True):
            for at in flow.labels if prefix else ():
                flow.labels[at] = flow.labels[at].removeprefix(prefix)
            for number, (path, backward) in enumerate(flow.scopes if above else ()):
                if path is not None and f"{'/'.join(path)}/".startswith(above):
                    flow.scopes[number] = ScopePath(path[above.count("/") :], backward)

    def _numbered(self, key: Key) -> list[Array]:
        """Of each side, a number for the key of each operator's node (int64), the same for equal keys; -1 for none."""
        numbers, keys = Numbers({None: -1}), []
        for side in self._sides:
            keys.append(np.full(len(side.kinds), -1, np.int64))
            count = int(np.count_nonzero(~side.values))  # values come last
            keys[-1][:count] = [numbers[key(side.flow, node)] for node in range(count)]
        return keys

    def _unique(self, keys: Sequence[Array], by: str) -> bool:
        """Pairs free nodes whose key is unique on both sides; returns whether there were any.

        Args:
            keys: of each side, a number of every node, -1 for none.
        """
        nodes = [(side.is_free() & (key >= 0)).nonzero()[0] for side, key in zip(self._sides, keys, strict=True)]
        return self._choose(once_on_both(keys, nodes), by)

    def _choose(self, both: tuple[Array, Array], by: str) -> bool:
        """Makes those of some pairs that nothing speaks against; returns whether there were any."""
        alike = self._connected if by == FLOW else self._seen_alike
        pairs = zip(both[0].tolist(), both[1].tolist(), strict=True)
        chosen = [pair for pair in pairs if self._may(*pair) and alike(*pair)]
        self._make(chosen, by)
        return bool(chosen)

    def _seen_alike(self, one: int, other: int) -> bool:
        """Whether names may decide: for common kinds only if both have the same paired neighbours."""
        if self._flows[0].scope(one).path == () and not self._connected(one, other):  # a place says nothing there
            return False
        return self._left.kinds[one] not in COMMON or self._left.seen.get(one) == self._right.seen.get(other)

    def _connected(self, one: int, other: int) -> bool:
        """Whether both see a common paired neighbour in the same way, or one of them sees none and the names do not
        contradict."""
        mine, its = self._left.seen.get(one), self._right.seen.get(other)
        if mine and its:
            return not mine.isdisjoint(its)
        return not self._named_otherwise(one, other)

    def _named_otherwise(self, one: int, other: int) -> bool:
        """Whether a free node of this side has the other node's name while this node has another."""
        name, its = self._flows[0].name(one), self._flows[1].name(other)
        if not self._shared or name is None or its is None or name == its:
            return False
        return any(
            side.partner[at] < 0
            for side, flow, each in zip(self._sides, self._flows, (its, name), strict=True)
            for at in flow.named(each)
        )

    def _by_place(self) -> bool:
        """Pairs free nodes with a unique kind in their scope, if everything paired there is paired within that
        scope."""
        ones = (~self._left.is_free()).nonzero()[0]
        places = self._places[0][ones], self._places[1][np.array(self._left.partner)[ones]]
        elsewhere = np.concatenate(places)[np.tile(places[0] != places[1], 2)]
        return self._unique([np.where(np.isin(each, elsewhere), -1, each) for each in self._places], SCOPE)

    def _by_names(self) -> bool:
        """Pairs free nodes of equal names, if all pairs keep the numbers in their names, and both sides have the same
        numbers.

        A release or a device that numbers operators differently does so elsewhere, too.
        """
        for one, other, _ in self.pairs:
            names = self._flows[0].name(one), self._flows[1].name(other)
            if names[0] and names[1] and names[0] != names[1] and _stem(names[0]) == _stem(names[1]):
                return False
        whole = [_numbers(flow) for flow in self._flows]

        def key(flow: Flow, node: int) -> Hashable | None:
            name = flow.step.names[flow.owners[node]]
            return (name, flow.kind(node)) if whole[0].get(_stem(name)) == whole[1].get(_stem(name)) else None

        return self._unique(self._numbered(key), NAME)

    # What neighbours say

    def _spread(self) -> None:
        """Pairs neighbours of paired nodes as long as there is only one choice; the strict rule goes first."""
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
            self._make(self._mutual(look, strict), FLOW)

    def _mutual(self, look: list[set[int]], strict: bool) -> list[tuple[int, int]]:
        """The pairs among some nodes of the left or the right side in which each is the other's only choice."""
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
        """The only candidate that shares more neighbours with ``at`` than any other, including all that the others
        share."""
        candidates = self._candidates(here, there, at, strict)
        if len(candidates) < 2:
            return candidates[0] if candidates else None
        shared = {each: here.seen[at] & there.seen[each] for each in candidates}
        best = max(candidates, key=lambda each: len(shared[each]))
        if all(shared[each] < shared[best] for each in candidates if each != best):
            return best
        return None

    def _candidates(self, here: Side, there: Side, at: int, strict: bool) -> list[int]:
        kind = here.kinds[at]
        seen = here.seen[at]
        if len(seen) == 1:
            found = there.crowd(kind, *seen)
        else:
            found = list({each for one in seen for each in there.crowd(kind, one)})
        if len(found) > 1:
            found.sort()
        return [each for each in found if self._are_compatible(here, there, at, each, strict)]

    def _are_compatible(self, here: Side, there: Side, at: int, other: int, strict: bool) -> bool:
        one, two = (at, other) if here is self._left else (other, at)
        if not self._may(one, two):
            return False
        if here.kinds[at] not in COMMON:
            return True
        mine, its = here.seen[at], there.seen[other]
        if strict:
            into = [{each for each in seen if each & 1 == FROM} for seen in (mine, its)]
            return bool(into[0]) and into[0] == into[1] and self._all_seen(here, at) and self._all_seen(there, other)
        joined = at in here.flow.joined or other in there.flow.joined
        shared = mine & its
        return len({each & 1 for each in shared}) == 2 or (joined and bool(shared))

    @staticmethod
    def _all_seen(side: Side, at: int) -> bool:
        return all(side.partner[other] >= 0 for port, other in side.ins.of[at] if not port & 1)

    def _may(self, one: int, other: int) -> bool:
        """Whether a pair agrees with the kinds, the sizes and the existing pairs."""
        left, right = self._flows
        if left.looks[one] != right.looks[other]:
            kind = left.kind(one)
            if kind != right.kind(other) or not _sizes_agree(left.forms[one].counts, right.forms[other].counts):
                return False
            if (
                kind in LAYOUT and left.scope(one).backward != right.scope(other).backward
            ):  # both may rearrange the same
                return False
        if one not in self._left.seen or other not in self._right.seen:  # no maker of either is paired
            return True
        mine, its = self._left.roots(one), self._right.roots(other)
        return not any(_contradict(mine[port], its[port]) for port in mine if port in its)

    # Colours

    def _by_colour(self) -> bool:
        """Pairs free nodes whose kind, or neighbourhood, is unique on both sides."""
        told = [side.operators(False) & ~side.parameters for side in self._sides]
        if self._unique([np.where(each, side.looks, -1) for side, each in zip(self._sides, told, strict=True)], FLOW):
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
        """If all free nodes form equal structures on both sides, pairs the nodes with a unique place in them.

        If one side has an extra node, places may have moved; then nothing is paired.
        """
        left, right = (of_all(side) for side in self._sides)
        if left is None or right is None or not np.array_equal(left.sorted(), right.sorted()):
            return False
        return self._unique_colours([left, right], whole=True)

    def _unique_colours(self, colours: Sequence[Colours], whole: bool) -> bool:
        nodes = [found.sure(side.operators(whole)) for side, found in zip(self._sides, colours, strict=True)]
        return self._choose(once_on_both([found.of for found in colours], nodes), FLOW)


def _without_prefix(left: set[str], right: set[str], mark: str) -> tuple[str, str]:
    """The prefix to remove from one side's names so that more of them match the other side's.

    Args:
        mark: ends a component of a name.
    """
    found = [(0, 0, "", ("", ""))]
    ends = {name.rpartition(mark)[2] for name in left} & {name.rpartition(mark)[2] for name in right}
    for at, (longer, shorter) in enumerate(((left, right), (right, left)) if ends else ()):
        prefixes = {n[: i + 1] for n in longer if n.rpartition(mark)[2] in ends for i, c in enumerate(n) if c == mark}
        for prefix in prefixes:
            count = len({name.removeprefix(prefix) for name in longer} & shorter) - len(left & right)
            # States have longer names (``moments_``).
            found.append((count, -len(prefix), prefix, ("", prefix) if at else (prefix, "")))
    return max(found, key=lambda each: each[:3])[3]


def _place(flow: Flow, node: int) -> Hashable | None:
    """Scope and kind, if the name tells the scope."""
    kind = flow.forms[node].kind
    if kind in (PARAMETER_KIND, VALUE_KIND, UPDATE_KIND):
        return None
    path, backward = flow.scopes[flow.owners[node]]
    return None if path is None else (kind, path, backward)


def _by_place_and_size(side: Side) -> dict[Hashable, list[int]]:
    """The free nodes of each scope, kind and size."""
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for at in side.free():
        place = _place(side.flow, at)
        if place is not None:
            groups[place, side.flow.forms[at].counts].append(at)
    return groups


def _stem(name: Name) -> str:
    """An operator's name without its number."""
    return name.operator.rpartition("-op")[0] or name.operator


def _numbers(flow: Flow) -> dict[str, set[Name]]:
    """The names of each stem."""
    found: dict[str, set[Name]] = defaultdict(set)
    for name in flow.step.names:
        found[_stem(name)].add(name)
    return found


def _sizes_agree(mine: Counts, its: Counts) -> bool:
    known = dict(its)
    return mine == its or all(known.get(port, count) == count for port, count in mine)


def _contradict(mine: list[int], its: list[int]) -> bool:
    """Whether the makers of a port's inputs are known on both sides and differ."""
    return -1 not in mine and -1 not in its and len(mine) == len(its) and sorted(mine) != sorted(its)
