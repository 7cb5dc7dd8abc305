"""Aligns the operators of two runs by the data flow that both sides state.

An operator is what makes its inputs and what takes its results, then its type, attributes and scope; the number in its
name says nothing. What flows nowhere, or is not stated, is told by its content, its form and its place in the order.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from harness.compare.pairing.flow import Numbers

#: the largest number of comparisons to match operators by their order
_MOST = 1 << 24
#: what it counts that no other operator takes the same weight, where a common neighbour counts 1
_NAMED = 2


@dataclass(frozen=True, eq=False)
class Node:
    """One operator.

    Attributes:
        name: full name.
        kind: name without its number.
        type: primitive name.
        form: attributes and constants.
        looks: dtypes and shapes of what it gives.
        takes: of each input slot, the operator that makes it and the slot of its result, or what else it is; None:
            unknown.
        content: what its slots hold; None: unknown.
    """

    name: str
    kind: str
    type: str
    form: Hashable
    looks: Hashable = ()
    takes: tuple[tuple[str, int] | str | None, ...] = ()
    content: Hashable = None


class _Side:
    """Nodes of one side, and the edges between them.

    Attributes:
        makers: of each node, by its input slot, the maker and the slot of its result.
        takers: of each node, who takes it: the taker, its slot, and the slot of the result.
        given: of each node, what it takes that no operator makes, by slot.
        having: the nodes that take it there.
    """

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.nodes = nodes
        numbers = {node.name: at for at, node in enumerate(nodes)}
        self.makers: list[dict[int, tuple[int, int]]] = []
        self.given: list[tuple[tuple[int, str], ...]] = []
        self.takers: list[list[tuple[int, int, int]]] = [[] for _ in nodes]
        for at, node in enumerate(nodes):
            made, given = {}, []
            for slot, taken in enumerate(node.takes):
                if isinstance(taken, str):
                    given.append((slot, taken))
                elif taken is not None and (maker := numbers.get(taken[0], at)) != at:
                    made[slot] = maker, taken[1]
                    self.takers[maker].append((at, slot, taken[1]))
            self.makers.append(made)
            self.given.append(tuple(given))
        self.mates: dict[int, int] = {}
        self.having: dict[tuple[int, str], list[int]] = defaultdict(list)
        for at, each in enumerate(self.given):
            for place in each:
                self.having[place].append(at)

    def free(self) -> list[int]:
        """The nodes without a mate, in order."""
        return [at for at in range(len(self.nodes)) if at not in self.mates]


def is_stated(nodes: Sequence[Node]) -> bool:
    """Whether the data flow between nodes is known."""
    return any(isinstance(taken, tuple) for node in nodes for taken in node.takes)


def mates(expected: Sequence[Node], found: Sequence[Node]) -> dict[int, int]:
    """The operators that both sides have: numbers of found nodes by those of expected ones.

    Args:
        expected, found: the nodes of a step, in the order in which they run.
    """
    return _Matching(expected, found).run()


class _Matching:
    def __init__(self, expected: Sequence[Node], found: Sequence[Node]) -> None:
        self._sides = _Side(expected), _Side(found)
        self._numbers = Numbers()

    def run(self) -> dict[int, int]:
        one, other = (side.nodes for side in self._sides)
        stated = is_stated(one) and is_stated(other)
        if stated:
            self._by_flow(named=True)
        self._in_order(lambda node: None if node.content is None else (node.kind, node.type, node.content))
        if stated:
            self._by_flow(named=True)
        else:
            self._crossing()
        self._in_order(lambda node: (node.kind, node.type, node.form))
        self._in_order(lambda node: node.name)
        self._in_order(lambda node: (node.kind, node.type))
        if stated:
            self._by_flow(named=False)
        return dict(sorted(self._sides[0].mates.items()))

    def _pair(self, one: int, other: int) -> None:
        self._sides[0].mates[one] = other
        self._sides[1].mates[other] = one

    # -- by data flow ----------------------------------------------------------------------------------------------
    def _by_flow(self, named: bool) -> None:
        """Pairs what has the same before it and behind it, then what touches such operators alike, until nothing is
        new."""
        bases = [
            [self._base(side, at, named) for at in range(len(side.nodes))] for side in self._sides
        ]  # fmt: skip
        while self._sides[0].free() and self._sides[1].free():
            before = len(self._sides[0].mates)
            ups = [self._reached(side, base, number) for number, (side, base) in enumerate(self._both(bases))]
            downs = [self._left(side, base, number) for number, (side, base) in enumerate(self._both(bases))]
            both = [list(zip(*each, strict=True)) for each in zip(ups, downs, strict=True)]
            self._equal(both, any_count=named)
            self._equal(ups)
            self._equal(downs)
            self._around(named)
            self._once(bases)
            if len(self._sides[0].mates) == before:
                return

    def _both(self, each: Sequence[Sequence[int]]) -> Iterator[tuple[_Side, Sequence[int]]]:
        return zip(self._sides, each, strict=True)

    def _base(self, side: _Side, at: int, named: bool) -> int:
        """A number for what a node is by itself: equal for equal nodes."""
        node = side.nodes[at]
        own = (node.kind, side.given[at]) if named else (tuple(slot for slot, _ in side.given[at]), node.looks)
        return self._numbers[own, node.type, node.form]

    def _anchor(self, side: int, at: int) -> int | None:
        """A number that both nodes of a pair share."""
        mate = self._sides[side].mates.get(at)
        return None if mate is None else self._numbers["pair", at if side == 0 else mate]

    def _reached(self, side: _Side, bases: Sequence[int], number: int) -> list[int]:
        """Of each node, a number for itself and all that leads to it, as far as the next pairs."""
        found: list[int] = []
        for at, base in enumerate(bases):
            anchor = self._anchor(number, at)
            if anchor is None:
                made = tuple(
                    (slot, found[maker] if maker < at else -1, nth) for slot, (maker, nth) in side.makers[at].items()
                )
                anchor = self._numbers[base, made]
            found.append(anchor)
        return found

    def _left(self, side: _Side, bases: Sequence[int], number: int) -> list[int]:
        """Of each node, a number for itself and all that it leads to, as far as the next pairs."""
        found = [-1] * len(bases)
        for at in range(len(bases) - 1, -1, -1):
            anchor = self._anchor(number, at)
            if anchor is None:
                taken = sorted((found[taker] if taker > at else -1, slot, nth) for taker, slot, nth in side.takers[at])
                anchor = self._numbers["left", bases[at], tuple(taken)]
            found[at] = anchor
        return found

    def _equal(self, keys: Sequence[Sequence[Hashable]], any_count: bool = False) -> None:
        """Pairs free nodes of equal keys: those of equal content first, the others in order.

        Args:
            any_count: whether a side may have more of them than the other.
        """
        groups: tuple[dict[Hashable, list[int]], ...] = defaultdict(list), defaultdict(list)
        for side, group, key in zip(self._sides, groups, keys, strict=True):
            for at in side.free():
                group[key[at]].append(at)
        for each, ones in groups[0].items():
            others = groups[1].get(each, [])
            if others and (any_count or len(ones) == len(others)):
                self._twins(ones, others)

    def _twins(self, ones: Sequence[int], others: Sequence[int]) -> None:
        if len(ones) > 1 or len(others) > 1:
            waiting: dict[Hashable, list[int]] = defaultdict(list)
            for at in reversed(others):
                waiting[self._sides[1].nodes[at].content].append(at)
            for at in ones:
                content = self._sides[0].nodes[at].content
                if content is not None and waiting[content]:
                    self._pair(at, waiting[content].pop())
        ones = [at for at in ones if at not in self._sides[0].mates]
        others = [at for at in others if at not in self._sides[1].mates]
        for one, other in zip(ones, others, strict=False):
            self._pair(one, other)

    def _once(self, bases: Sequence[Sequence[int]]) -> None:
        """Pairs free nodes that are alone of their base on both sides."""
        counts = [Counter(base[at] for at in side.free()) for side, base in self._both(bases)]
        there = {bases[1][at]: at for at in self._sides[1].free()}
        for at in self._sides[0].free():
            base = bases[0][at]
            if counts[0][base] == counts[1][base] == 1:
                self._pair(at, there[base])

    def _around(self, named: bool) -> None:
        """Pairs free nodes of one type that touch the same pairs, each the other's best choice."""
        left, right = self._sides
        waiting = set(left.free())
        while waiting:
            chosen = []
            for at in sorted(waiting):
                mate = self._best(left, right, at, named)
                if mate is not None and self._best(right, left, mate, named) == at:
                    chosen.append((at, mate))
            waiting = set()
            for one, other in chosen:
                if one not in left.mates and other not in right.mates:
                    self._pair(one, other)
                    near = (*(maker for maker, _ in left.makers[one].values()), *(t for t, _, _ in left.takers[one]))
                    waiting.update(each for each in near if each not in left.mates)

    def _best(self, here: _Side, there: _Side, at: int, named: bool) -> int | None:
        """The free node that touches most of the pairs that a free node touches, in the same way; None if it is not
        one alone."""
        node = here.nodes[at]
        scores: Counter[int] = Counter()
        for slot, (maker, nth) in here.makers[at].items():
            for taker, its, result in there.takers[here.mates[maker]] if maker in here.mates else ():
                scores[taker] += (its, result) == (slot, nth)
        for taker, slot, nth in here.takers[at]:
            made = there.makers[here.mates[taker]].get(slot) if taker in here.mates else None
            if made is not None:
                scores[made[0]] += made[1] == nth
        for place in here.given[at] if named else ():
            users = there.having.get(place, ())
            scores.update(dict.fromkeys(users, _NAMED) if len(users) == len(here.having[place]) == 1 else {})
        ranked = []
        for each, score in scores.items():
            other = there.nodes[each]
            if score and each not in there.mates and other.type == node.type and (not named or other.kind == node.kind):
                alike = here.given[at] == there.given[each], other.form == node.form, other.content == node.content
                ranked.append(((score, *alike), each))
        ranked.sort(reverse=True)
        if not ranked or (len(ranked) > 1 and ranked[0][0] == ranked[1][0]):
            return None
        return ranked[0][1]

    # -- by order --------------------------------------------------------------------------------------------------
    def _in_order(self, key: Callable[[Node], Hashable]) -> None:
        """Pairs free nodes of equal keys (None is no key) that stand in the same order between pairs that do."""
        one, other = (side.nodes for side in self._sides)
        for ones, others in self._gaps():
            mine, its = ([at for at in each if key(nodes[at]) is not None] for nodes, each in
                         ((one, ones), (other, others)))  # fmt: skip
            if not mine or not its or len(mine) * len(its) > _MOST:
                continue
            keys = [key(one[at]) for at in mine], [key(other[at]) for at in its]
            if not {*keys[0]} & {*keys[1]}:
                continue
            for a, b, size in SequenceMatcher(None, *keys, False).get_matching_blocks():
                for at in range(size):
                    self._pair(mine[a + at], its[b + at])

    def _gaps(self) -> list[tuple[list[int], list[int]]]:
        """The free nodes of both sides between pairs that stand in one order."""
        chain = in_order(self._sides[0].mates)
        ends = [(-1, -1), *chain, (len(self._sides[0].nodes), len(self._sides[1].nodes))]
        found = []
        for (a, b), (next_a, next_b) in pairwise(ends):
            ones = [at for at in range(a + 1, next_a) if at not in self._sides[0].mates]
            others = [at for at in range(b + 1, next_b) if at not in self._sides[1].mates]
            if ones and others:
                found.append((ones, others))
        return found

    def _crossing(self) -> None:
        """Pairs free nodes of equal content, wherever they stand."""
        waiting: dict[Hashable, list[int]] = defaultdict(list)
        for at in reversed(self._sides[1].free()):
            node = self._sides[1].nodes[at]
            waiting[node.kind, node.type, node.content].append(at)
        for at in self._sides[0].free():
            node = self._sides[0].nodes[at]
            if node.content is not None and (same := waiting[node.kind, node.type, node.content]):
                self._pair(at, same.pop())


def in_order(paired: Mapping[int, int]) -> list[tuple[int, int]]:
    """The most pairs that stand in one order on both sides (patience sorting)."""
    pairs = sorted(paired.items())
    ends: list[int] = []
    last: list[int] = []
    before = [-1] * len(pairs)
    for number, (_, other) in enumerate(pairs):
        place = bisect_left(ends, other)
        before[number] = last[place - 1] if place else -1
        ends[place : place + 1] = [other]
        last[place : place + 1] = [number]
    chain = []
    at = last[-1] if last else -1
    while at >= 0:
        chain.append(pairs[at])
        at = before[at]
    return chain[::-1]
