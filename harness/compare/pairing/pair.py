"""Pairs the operators of two runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from harness.compare.collector import PausedCollector
from harness.compare.divergence import PARAMETER
from harness.compare.pairing.beside import operators_alone
from harness.compare.pairing.flow import Flow, Words
from harness.compare.pairing.kinds import LAYOUT, UPDATE_KIND
from harness.compare.pairing.listing import listed
from harness.compare.pairing.matching import Matching
from harness.compare.pairing.reading import flow_of
from harness.compare.pairing.result import Ambiguous, Lone, Pairing, StepPairing
from harness.compare.pairing.scopes import parameter_name
from harness.compare.pairing.slots import Name, Run, StepSlots, steps_of

_UNKNOWN = "no operator of the other side is known to do the same"
_UNSURE = "unsure: it could be {}, but too little around them is paired, or speaks against it"
_BOOKKEEPING = frozenset({"Assign", "AssignAdd", "ones_like", "zeros_like", "fill", "add_"})


def pair(expected: Run, found: Run, *, by_name: bool = True) -> Pairing:
    """Pairs operators by scope, type and data flow.

    Operators of the same rank and iteration are paired; if the sides have no iteration label in common, iterations at
    the same place are. An operator that cannot be told from another stays unpaired.

    Args:
        expected, found: both runs; each is read once, its values only if a record has no digest.
        by_name: whether an equal full name decides if nothing else does.
    """
    with PausedCollector():
        return _pair(*operators_alone(expected, found), by_name)


def _pair(expected: Run, found: Run, by_name: bool) -> Pairing:
    (left, mine), (right, its) = steps_of(expected), steps_of(found)
    steps = []
    for rank in sorted(left.keys() & right.keys()):
        names = _names(left[rank]), _names(right[rank])
        labels = _labels(left[rank], right[rank])
        for one in left[rank]:
            for other in right[rank]:
                both = {i: labels[i] for i in sorted(one.contents) if labels.get(i) in other.contents}
                if both:
                    words = Words()
                    flows = flow_of(one, names[0], words), flow_of(other, names[1], words)
                    steps.append(_StepPairing(*flows, by_name).result(rank, both))
    return Pairing(tuple(steps), (mine, its))


def _names(steps: Sequence[StepSlots]) -> dict[bytes, str]:
    """The parameters whose content is unique, by that content."""
    names: dict[bytes, set[str]] = defaultdict(set)
    for step in steps:
        for at, form in enumerate(step.forms):
            if form.is_parameter and form.elements > 1:
                for contents in step.contents.values():
                    names[contents[at]].add(parameter_name(step.ats[at].name.operator))
    return {content: min(each) for content, each in names.items() if len(each) == 1}


def _labels(left: Sequence[StepSlots], right: Sequence[StepSlots]) -> dict[int, int]:
    mine, its = (sorted(i for step in side for i in step.contents) for side in (left, right))
    if set(mine) & set(its):
        return {i: i for i in mine if i in its}
    return dict(zip(mine, its, strict=True)) if len(mine) == len(its) else {}


def _reasons(groups: Sequence[Ambiguous], side: int) -> dict[Name, str]:
    """The reasons why ambiguous operators of a side are not paired."""
    reasons: dict[Name, str] = {}
    for group in groups:
        alone = len(group.expected) == len(group.found) == 1
        told = _UNSURE.format(group[1 - side][0].operator) if alone else "ambiguous: it could be any of several"
        reasons |= dict.fromkeys(group[side], told)
    return reasons


def _is_update(flow: Flow, nodes: Sequence[int]) -> bool:
    """Whether one operator, of these nodes, runs the optimizer's whole step for a parameter."""
    return len(nodes) > 1 and flow.kind(nodes[-1]) == UPDATE_KIND


class _StepPairing:
    def __init__(self, left: Flow, right: Flow, by_name: bool) -> None:
        self._flows = left, right
        self._matching = Matching(left, right, by_name)
        self._matching.run()
        listing = listed(left, right, self._matching.pairs)
        self._pairs, self._paired, self._covered = listing.pairs, listing.paired, listing.covered

    def result(self, rank: int, iterations: Mapping[int, int]) -> StepPairing:
        ambiguous = tuple(self._ambiguous())
        alone = tuple(self._alone(0, _reasons(ambiguous, 0))), tuple(self._alone(1, _reasons(ambiguous, 1)))
        return StepPairing(rank, iterations, self._pairs, alone, ambiguous)

    def _ambiguous(self) -> Iterator[Ambiguous]:
        """Groups of ambiguous operators: all that possible pairs connect form one group."""
        left, right = self._flows
        above: dict[tuple[int, int], tuple[int, int]] = {}

        def top(each: tuple[int, int]) -> tuple[int, int]:
            while (up := above.setdefault(each, each)) != each:
                above[each] = above[up]
                each = up
            return each

        for one, other in self._matching.candidates():
            a, b = left.owners[one], right.owners[other]
            if a >= 0 and b >= 0 and not self._paired[0][a] and not self._paired[1][b]:
                above[top((0, int(left.ranks[a])))] = top((1, int(right.ranks[b])))
        groups: dict[tuple[int, int], tuple[list[Name], list[Name]]] = defaultdict(lambda: ([], []))
        for side, place in sorted(above):
            flow = self._flows[side]
            groups[top((side, place))][side].append(flow.step.names[flow.order[place]])
        for mine, its in groups.values():
            yield Ambiguous(tuple(mine), tuple(its))

    @cached_property
    def _mates(self) -> tuple[dict[int, set[int]], dict[int, set[int]]]:
        """What each operator is paired with."""
        left, right = self._flows
        mates: tuple[dict[int, set[int]], dict[int, set[int]]] = defaultdict(set), defaultdict(set)
        for one, other, _ in self._matching.pairs:
            a, b = left.owners[one], right.owners[other]
            if a >= 0 and b >= 0:
                mates[0][a].add(b)
                mates[1][b].add(a)
        return mates

    def _alone(self, side: int, unsure: Mapping[Name, str]) -> Iterator[Lone]:
        flow, other = self._flows[side], self._flows[1 - side]
        step = flow.step
        inside: dict[str, str] = {}
        for name, slots in zip(other.step.names, other.step.slots, strict=True):
            if members := other.step.forms[slots[0]].members:
                inside |= dict.fromkeys(members, name.operator)
        is_open = ~self._paired[side]
        is_open[np.array(step.owners)[~self._covered[side]]] = True
        for number in np.array(flow.order)[is_open[flow.order]].tolist():
            if self._paired[side][number]:
                yield from self._slots_alone(side, number)
                continue
            name = step.names[number]
            host = inside.get(name.operator)
            why = self._excuse(side, number) if host is None else f"a member of the fused {host}"
            reason = why or unsure.get(name, _UNKNOWN)
            ats = tuple(step.ats[at] for at in step.slots[number])
            yield Lone(name, flow.type_of(number), ats, True, reason, why is not None)

    def _excuse(self, side: int, number: int) -> str | None:
        """Says why an operator needs no counterpart; None if it needs one."""
        flow, other = self._flows[side], self._flows[1 - side]
        nodes, path = flow.of[number], flow.scopes[number].path
        forms = [flow.step.forms[at] for at in flow.step.slots[number]]
        counts = [form.elements for form in forms if form.io == "output"]
        if flow.type_of(number) == PARAMETER:
            return "a parameter or an input of the run that the other side lacks"
        if all(flow.kind(node) in LAYOUT for node in nodes) and not flow.is_unused_exchange(number):
            return "a layout; its output is compared where it is used"
        if flow.type_of(number) in _BOOKKEEPING and max(counts, default=0) <= 1:
            return "keeps a count, or makes a constant"
        if self._is_partial_sum(side, number):
            return "a partial sum of a sum that is one operator on the other side"
        if path is not None and path[:1] == ("optimizer",) and not _is_update(flow, nodes):
            if max(counts, default=0) <= 1:
                return "a number of the optimizer's"
            if any(_is_update(other, each) for each in other.of):
                return "a part of the optimizer's step, which the other side runs as one operator"
        return None

    def _is_partial_sum(self, side: int, number: int) -> bool:
        """Whether an addition's output only goes to additions that are one ``AddN`` on the other side."""
        flow, other = self._flows[side], self._flows[1 - side]
        users = [user for each in flow.of[number] for _, user in flow.outs.of[each] if flow.kind(user) not in LAYOUT]
        if not users or {flow.kind(node) for node in (*flow.of[number], *users)} != {"add"}:
            return False
        mates = [self._mates[side].get(flow.owners[user], set()) for user in users]
        return all({other.type_of(mate) for mate in each} == {"AddN"} for each in mates)

    def _slots_alone(self, side: int, number: int) -> Iterator[Lone]:
        flow, other, covered = self._flows[side], self._flows[1 - side], self._covered[side]
        step, op_type = flow.step, flow.type_of(number)
        types = sorted({other.type_of(mate) for mate in self._mates[side][number]})
        nodes = [each for each in flow.of[number] if not self._matching.is_matched(side, each)]
        open_outputs = {at for each in nodes for at in flow.outputs(each)}
        for at in step.slots[number]:
            if not covered[at]:
                explained = types != [op_type] and at not in open_outputs
                reason = f"{', '.join(types)} has nothing like it"
                yield Lone(step.names[number], op_type, (step.ats[at],), False, reason, explained)
