"""Finds the slots of two paired parts that hold the same thing."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import accumulate
from operator import mul
from typing import NamedTuple

from harness.compare.pairing.flow import Chain, Flow, FlowNode
from harness.compare.pairing.kinds import PERMUTING
from harness.compare.pairing.operators import PartForm, Ported

Shape = tuple[int, ...]
#: Slots of both sides, by their numbers.
Slots = tuple[int, int]


class _Port(NamedTuple):
    """The inputs of a port that two parts have.

    Attributes:
        mine, its: the places of its slots.
        is_plain: whether it has one slot on each side, and they correspond if neither came through a layout.
    """

    mine: list[int]
    its: list[int]
    is_plain: bool


class _Plan(NamedTuple):
    """What all pairs of parts of two forms have in common.

    Attributes:
        given: the outputs of each port that both have.
        outputs: those that can be compared.
        inputs: the ports that both take.
    """

    given: list[tuple[int, int]]
    outputs: list[tuple[int, int]]
    inputs: list[_Port]


class Corresponding:
    """Finds the slots of paired parts that correspond.

    Args:
        left, right: the data flows of both sides.
        pairs: the nodes that are paired.
    """

    def __init__(self, left: Flow, right: Flow, pairs: Sequence[tuple[int, int, str]]) -> None:
        self._left, self._right = left, right
        self._forms = left.step.forms, right.step.forms
        #: Of each output slot of the left side, that of the right; -1 for none, and at the end, where a slot is -1.
        self._outputs = [-1] * (len(left.step.forms) + 1)
        self._plans: dict[tuple[PartForm, PartForm], _Plan] = {}
        for one, other, _ in pairs:
            a, b = left.nodes[one], right.nodes[other]
            for nth, its in self._plan(a.form, b.form).given:
                self._outputs[a.slots[nth]] = b.slots[its]

    def slots(self, one: FlowNode, other: FlowNode) -> list[Slots]:
        """The corresponding slots of two parts."""
        plan, mine, its = self._plan(one.form, other.form), one.slots, other.slots
        found = [(mine[a], its[b]) for a, b in plan.outputs]
        chains, hers = self._left.chains, self._right.chains
        overwritten = self._left.overwritten, self._right.overwritten
        for port in plan.inputs:
            if port.is_plain and (at := mine[port.mine[0]]) not in chains and (to := its[port.its[0]]) not in hers:
                pairs = [(at, to)]
            else:
                inputs = self._inputs([mine[nth] for nth in port.mine], [its[nth] for nth in port.its])
                pairs = [pair for each in inputs if (pair := self._before_layouts(*each)) is not None]
            found += [pair for pair in pairs if (pair[0] in overwritten[0]) == (pair[1] in overwritten[1])]
        return found

    def _plan(self, one: PartForm, other: PartForm) -> _Plan:
        plan = self._plans.get((one, other))
        if plan is None:
            plan = self._plans[one, other] = _plan_of(one, other)
        return plan

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
        takers: dict[int, list[int]] = defaultdict(list)
        for each in its:
            takers[its_roots[each]].append(each)
        for each in list(mine):
            made = self._outputs[roots[each]]
            if made >= 0 and (same := takers[made]):
                yield each, same[0]
                mine.remove(each)
                its.remove(same.pop(0))
        sizes = Counter(left[each].elements for each in mine), Counter(right[each].elements for each in its)
        for each in list(mine):
            count = left[each].elements
            if sizes[0][count] == sizes[1][count] == 1:
                found = next(at for at in its if right[at].elements == count)
                yield each, found
                mine.remove(each)
                its.remove(found)

    def _before_layouts(self, one: int, other: int) -> Slots | None:
        """The slots to compare: the inputs, or their values before one side exchanged the axes."""
        chains = self._left.chains.get(one), self._right.chains.get(other)
        choices = [(one, other)]
        if chains[0] or chains[1]:
            choices.append((_unpermuted(one, chains[0]), _unpermuted(other, chains[1])))
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
            inputs.append(_Port(mine[port], its[port], plain))
    return _Plan(given, outputs, inputs)


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
