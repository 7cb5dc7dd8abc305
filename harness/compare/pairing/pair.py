"""Pairs the operators of two runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from harness.compare.collector import paused_collector
from harness.compare.divergence import PARAMETER
from harness.compare.pairing.corresponding import slot_pairs
from harness.compare.pairing.flow import Flow, FlowNode, flow_of
from harness.compare.pairing.kinds import LAYOUT, UPDATE_KIND
from harness.compare.pairing.matching import Matching
from harness.compare.pairing.result import Ambiguous, Lone, Pair, Pairing, SlotPair, StepPairing
from harness.compare.pairing.scopes import parameter_name
from harness.compare.pairing.slots import At, Name, Run, StepSlots, steps_of

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
    with paused_collector():
        return _pair(expected, found, by_name)


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
                    flows = flow_of(one, names[0]), flow_of(other, names[1])
                    steps.append(_StepPairing(*flows, by_name).result(rank, both))
    return Pairing(tuple(steps), (mine, its))


def _names(steps: Sequence[StepSlots]) -> dict[bytes, str]:
    """The parameters whose content is unique, by that content."""
    names: dict[bytes, set[str]] = defaultdict(set)
    for step in steps:
        for at, slot in step.slots.items():
            if slot.op_type == PARAMETER and slot.elements > 1:
                for contents in step.contents.values():
                    names[contents[at]].add(parameter_name(at.name.operator))
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


def _is_update(nodes: Sequence[FlowNode]) -> bool:
    """Whether one operator runs the optimizer's whole step for a parameter."""
    return len(nodes) > 1 and nodes[-1].kind == UPDATE_KIND


class _StepPairing:
    def __init__(self, left: Flow, right: Flow, by_name: bool) -> None:
        self._flows = left, right
        self._matching = Matching(left, right, by_name)
        self._matching.run()
        self._mates: tuple[dict[Name, set[Name]], dict[Name, set[Name]]] = defaultdict(set), defaultdict(set)
        for one, other, _ in self._matching.pairs:
            names = left.nodes[one].name, right.nodes[other].name
            if names[0] is not None and names[1] is not None:
                self._mates[0][names[0]].add(names[1])
                self._mates[1][names[1]].add(names[0])

    def result(self, rank: int, iterations: Mapping[int, int]) -> StepPairing:
        pairs = tuple(self._pairs())
        paired = {p.expected for p in pairs}, {p.found for p in pairs}
        ambiguous = tuple(self._ambiguous(paired))
        unsure = _reasons(ambiguous, 0), _reasons(ambiguous, 1)
        slots = {s.expected for p in pairs for s in p.slots}, {s.found for p in pairs for s in p.slots}
        alone = tuple(tuple(self._alone(side, paired[side], slots[side], unsure[side])) for side in (0, 1))
        return StepPairing(rank, iterations, pairs, (alone[0], alone[1]), ambiguous)

    def _pairs(self) -> Iterator[Pair]:
        left, right = self._flows
        outputs: dict[At, At] = {}
        for one, other, _ in self._matching.pairs:
            ports = {port: at for at, port in right.nodes[other].outputs}
            outputs |= {at: ports[port] for at, port in left.nodes[one].outputs if port in ports}
        known: dict[tuple[Name, Name], list[tuple[str, str, list[SlotPair]]]] = defaultdict(list)
        for one, other, by in self._matching.pairs:
            a, b = left.nodes[one], right.nodes[other]
            if a.name is not None and b.name is not None:
                known[a.name, b.name].append((a.kind, by, list(slot_pairs(left, right, a, b, outputs))))
        for (name, its), parts in sorted(known.items()):
            parts[0][2].extend(self._same_type(name, its, [s for part in parts for s in part[2]]))
            for kind, by, slots in parts:
                yield Pair(name, its, kind, by, tuple(sorted(set(slots)) if len(slots) > 1 else slots))

    def _same_type(self, one: Name, other: Name, known: list[SlotPair]) -> Iterator[SlotPair]:
        """For operators of the same type, pairs slots at the same place that are still unpaired."""
        left, right = self._flows
        if left.type_of(one) != right.type_of(other):
            return
        taken = {pair.expected for pair in known}, {pair.found for pair in known}
        for at in left.slots[one]:
            beside = At(other, at.io, at.slot)
            if at not in taken[0] and beside in right.step.slots and beside not in taken[1]:
                yield SlotPair(at, beside)

    def _ambiguous(self, paired: tuple[set[Name], set[Name]]) -> Iterator[Ambiguous]:
        """Groups of ambiguous operators: all that possible pairs connect form one group."""
        left, right = self._flows
        above: dict[tuple[int, Name], tuple[int, Name]] = {}

        def top(each: tuple[int, Name]) -> tuple[int, Name]:
            while (up := above.setdefault(each, each)) != each:
                above[each] = above[up]
                each = up
            return each

        for one, other in self._matching.candidates():
            names = left.nodes[one].name, right.nodes[other].name
            if names[0] and names[1] and names[0] not in paired[0] and names[1] not in paired[1]:
                above[top((0, names[0]))] = top((1, names[1]))
        groups: dict[tuple[int, Name], tuple[list[Name], list[Name]]] = defaultdict(lambda: ([], []))
        for each in sorted(above):
            groups[top(each)][each[0]].append(each[1])
        for mine, its in groups.values():
            yield Ambiguous(tuple(mine), tuple(its))

    def _alone(self, side: int, paired: set[Name], slots: set[At], unsure: Mapping[Name, str]) -> Iterator[Lone]:
        flow, other = self._flows[side], self._flows[1 - side]
        inside = {
            member: name.operator for name in other.slots for member in other.step.slots[other.slots[name][0]].members
        }
        for name in flow.of:
            if name in paired:
                yield from self._slots_alone(side, name, flow.type_of(name), slots)
                continue
            why = (
                f"a member of the fused {inside[name.operator]}"
                if name.operator in inside
                else self._excuse(side, name)
            )
            reason = why or unsure.get(name, _UNKNOWN)
            yield Lone(name, flow.type_of(name), tuple(flow.slots[name]), True, reason, why is not None)

    def _excuse(self, side: int, name: Name) -> str | None:
        """Says why an operator needs no counterpart; None if it needs one."""
        flow, other = self._flows[side], self._flows[1 - side]
        nodes = [flow.nodes[each] for each in flow.of[name]]
        counts = [flow.step.slots[at].elements for at in flow.slots[name] if at.io == "output"]
        if flow.type_of(name) == PARAMETER:
            return "a parameter or an input of the run that the other side lacks"
        if all(node.kind in LAYOUT for node in nodes) and not flow.is_unused_exchange(name):
            return "a layout; its output is compared where it is used"
        if flow.type_of(name) in _BOOKKEEPING and max(counts, default=0) <= 1:
            return "keeps a count, or makes a constant"
        if self._is_partial_sum(side, nodes):
            return "a partial sum of a sum that is one operator on the other side"
        if all(node.path is not None and node.path[:1] == ("optimizer",) for node in nodes) and not _is_update(nodes):
            if max(counts, default=0) <= 1:
                return "a number of the optimizer's"
            if any(_is_update([other.nodes[node] for node in each]) for each in other.of.values()):
                return "a part of the optimizer's step, which the other side runs as one operator"
        return None

    def _is_partial_sum(self, side: int, nodes: list[FlowNode]) -> bool:
        """Whether an addition's output only goes to additions that are one ``AddN`` on the other side."""
        flow, other = self._flows[side], self._flows[1 - side]
        users = [flow.nodes[edge.other] for node in nodes for edge in node.outs if edge.port[-1] != "~"]
        users = [user for user in users if user.kind not in LAYOUT]
        if not users or {node.kind for node in (*nodes, *users)} != {"add"}:
            return False
        mates = [self._mates[side].get(user.name, set()) for user in users if user.name is not None]
        return all({other.type_of(mate) for mate in each} == {"AddN"} for each in mates)

    def _slots_alone(self, side: int, name: Name, op_type: str, slots: set[At]) -> Iterator[Lone]:
        flow, other = self._flows[side], self._flows[1 - side]
        if all(at in slots for at in flow.slots[name]):
            return
        types = sorted({other.type_of(mate) for mate in self._mates[side][name]})
        matched = self._matching.matched(side)
        open_outputs = {at for each in flow.of[name] if each not in matched for at, _ in flow.nodes[each].outputs}
        for at in flow.slots[name]:
            if at not in slots:
                explained = types != [op_type] and at not in open_outputs
                yield Lone(name, op_type, (at,), False, f"{', '.join(types)} has nothing like it", explained)
