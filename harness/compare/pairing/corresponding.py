"""Finds the slots of two paired parts that hold the same thing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import mul
from typing import Any, NamedTuple

import numpy as np

from harness.compare.pairing.flow import Chain, Flow, Numbers
from harness.compare.pairing.kinds import PERMUTING
from harness.compare.pairing.operators import PartForm, Ported

Array = np.ndarray[Any, np.dtype[Any]]
Shape = tuple[int, ...]
#: Slots of both sides, by their numbers.
Slots = tuple[int, int]


class _Port(NamedTuple):
    """The inputs of a port that two parts have.

    Attributes:
        mine, its: the places of its slots.
        is_plain: whether it has one slot on each side, and they correspond if neither came through a layout.
    """

    mine: tuple[int, ...]
    its: tuple[int, ...]
    is_plain: bool


class _Plan(NamedTuple):
    """What all pairs of parts of two forms have in common.

    Attributes:
        given: the outputs of each port that both have.
        outputs: those that can be compared.
        inputs: the ports that both take.
    """

    given: tuple[tuple[int, int], ...]
    outputs: tuple[tuple[int, int], ...]
    inputs: tuple[_Port, ...]


@dataclass
class Found:
    """Slots of paired nodes that correspond, in arrays (int64).

    Attributes:
        pairs: which pair of nodes it is.
        mine, its: the slots of both sides.
    """

    pairs: Array
    mine: Array
    its: Array

    def chosen(self, chosen: Array) -> Found:
        """Some of them."""
        return Found(self.pairs[chosen], self.mine[chosen], self.its[chosen])

    @classmethod
    def joined(cls, parts: Sequence[Found]) -> Found:
        """All of several."""
        none = np.zeros(0, np.int64)
        columns = zip(*((part.pairs, part.mine, part.its) for part in parts), strict=True)
        return cls(*map(np.concatenate, columns)) if parts else cls(none, none, none)


class Corresponding:
    """Finds the slots of paired parts that correspond.

    Args:
        left, right: the data flows of both sides.
        ones, others: nodes of operators that are paired (int64).
    """

    def __init__(self, left: Flow, right: Flow, ones: Array, others: Array) -> None:
        self._left, self._right, self._ones, self._others = left, right, ones, others
        self._forms = left.step.forms, right.step.forms
        self._nodes = ones.tolist(), others.tolist()
        #: Of each output slot of the left side, that of the right; -1 for none, and at the end, where a slot is -1.
        self._outputs: list[int] = []

    def slots(self) -> Found:
        """The corresponding slots of all pairs."""
        plans = self._plans()
        given = Found.joined([self._both(pairs, a, b) for plan, pairs in plans for a, b in plan.given])
        given = given.chosen(np.argsort(given.pairs, kind="stable"))
        outputs = np.full(len(self._forms[0]) + 1, -1, np.int64)
        outputs[given.mine] = given.its
        self._outputs = outputs.tolist()
        found = [self._both(pairs, a, b) for plan, pairs in plans for a, b in plan.outputs]
        open_: list[tuple[int, _Port]] = []
        for plan, pairs in plans:
            for port in plan.inputs:
                plain = np.zeros(len(pairs), bool)
                if port.is_plain:
                    both = self._both(pairs, port.mine[0], port.its[0])
                    plain = ~(self._left.is_chained[both.mine] | self._right.is_chained[both.its])
                    found.append(both.chosen(plain))
                open_ += [(pair, port) for pair in pairs[~plain].tolist()]
        singly = [(pair, *slots) for pair, port in open_ for slots in self._of_port(pair, port)]
        found.append(Found(*np.array(singly, np.int64).reshape(-1, 3).T))
        every = Found.joined(found)
        return every.chosen(self._left.is_overwritten[every.mine] == self._right.is_overwritten[every.its])

    def _plans(self) -> list[tuple[_Plan, Array]]:
        """What pairs have in common, and the pairs that have."""
        known: dict[tuple[PartForm, PartForm], int] = {}
        plans: dict[_Plan, int] = Numbers()
        which = []
        for one, other in zip(*self._nodes, strict=True):
            both = self._left.forms[one], self._right.forms[other]
            number = known.get(both)
            if number is None:
                number = known[both] = plans[_plan_of(*both)]
            which.append(number)
        order = np.argsort(which, kind="stable")
        ends = np.searchsorted(np.array(which, np.int64)[order], np.arange(len(plans) + 1))
        return [(plan, order[ends[number] : ends[number + 1]]) for plan, number in plans.items()]

    def _both(self, pairs: Array, nth: int, its: int) -> Found:
        """The slots at some place of pairs."""
        return Found(pairs, self._left.slots_at(self._ones[pairs], nth), self._right.slots_at(self._others[pairs], its))

    def _of_port(self, pair: int, port: _Port) -> Iterator[Slots]:
        left, right = self._left, self._right
        mine = left.step.slots[left.owners[self._nodes[0][pair]]]
        its = right.step.slots[right.owners[self._nodes[1][pair]]]
        for one, other in self._inputs([mine[nth] for nth in port.mine], [its[nth] for nth in port.its]):
            found = self._before_layouts(one, other)
            if found is not None:
                yield found

    def _inputs(self, mine: list[int], its: list[int]) -> Iterator[Slots]:
        """Pairs the inputs of one port: by what gave them, then by their sizes, then where one is left on each side."""
        left, right = self._forms
        roots, its_roots = self._left.roots, self._right.roots
        if len(mine) == len(its) == 1:
            a, b = mine[0], its[0]
            made = self._outputs[roots[a]]
            if left[a].elements == right[b].elements or (made >= 0 and made == its_roots[b]):
                yield a, b
            return
        mine, its = list(mine), list(its)
        for each in list(mine):
            made = self._outputs[roots[each]]
            found = next((at for at in its if its_roots[at] == made), None) if made >= 0 else None
            if found is not None:
                yield each, found
                mine.remove(each)
                its.remove(found)
        sizes, its_sizes = [left[each].elements for each in mine], [right[each].elements for each in its]
        for each, count in zip(mine, sizes, strict=True):
            if sizes.count(count) == its_sizes.count(count) == 1:
                yield each, its[its_sizes.index(count)]

    def _before_layouts(self, one: int, other: int) -> Slots | None:
        """The slots to compare: the inputs, or their values before one side exchanged the axes."""
        chains = self._left.chains.get(one), self._right.chains.get(other)
        if not (chains[0] or chains[1]):
            same = same_layout(self._forms[0][one].shape, self._forms[1][other].shape)
            return (one, other) if same else None
        choices = [(one, other), (_unpermuted(one, chains[0]), _unpermuted(other, chains[1]))]
        if _permuted(chains[0]) != _permuted(chains[1]):
            choices.reverse()
        for a, b in choices:
            if same_layout(self._forms[0][a].shape, self._forms[1][b].shape):
                return a, b
        return None


def _plan_of(one: PartForm, other: PartForm) -> _Plan:
    mine, its = _by_port(one.outputs), _by_port(other.outputs)
    common = [(mine[port], its[port]) for port in mine if port in its]
    outputs = [
        (a, b)
        for ours, theirs in common
        for a, b in zip(ours, theirs, strict=False)
        if same_layout(one.forms[a].shape, other.forms[b].shape)
    ]
    given = [(a, theirs[-1]) for ours, theirs in common for a in ours]
    mine, its = _by_port(one.inputs), _by_port(other.inputs)
    inputs = []
    for port in mine:
        if port in its:
            a, b = one.forms[mine[port][0]], other.forms[its[port][0]]
            alone = len(mine[port]) == len(its[port]) == 1
            plain = alone and a.elements == b.elements and same_layout(a.shape, b.shape)
            inputs.append(_Port(tuple(mine[port]), tuple(its[port]), plain))
    return _Plan(tuple(given), tuple(outputs), tuple(inputs))


def _by_port(slots: Ported) -> dict[str, list[int]]:
    ports: dict[str, list[int]] = defaultdict(list)
    for nth, port in slots:
        ports[port].append(nth)
    return ports


def _permuted(chain: Chain | None) -> bool:
    return chain is not None and any(kind in PERMUTING for kind in chain.kinds)


def _unpermuted(at: int, chain: Chain | None) -> int:
    """The slot before the first layout that exchanged axes; the input itself if there is none."""
    if chain is None:
        return at
    last = max((nth for nth, kind in enumerate(chain.kinds) if kind in PERMUTING), default=-1)
    return chain.slots[last + 1]


def same_layout(one: Shape, other: Shape) -> bool:
    """Whether elements correspond in memory order, because axes are only split or merged."""
    if one == other:
        return True
    cuts = [set(accumulate(shape, mul, initial=1)) for shape in (one, other)]
    return max(cuts[0]) == max(cuts[1]) and 0 not in (*one, *other) and (cuts[0] <= cuts[1] or cuts[1] <= cuts[0])
