"""Executions of a comparison: their inputs, what was updated in place, order and names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from harness.compare.packed import Packed
from harness.compare.verdict import Comparison, OrderChange, Rename, SlotVerdict, Uncompared, Verdict
from harness.records import SlotKey

PARAMETER = "Parameter"
#: Ends the name of an operator that the run alone has, if the golden has another one of that name.
FOUND_SUFFIX = " (found)"

#: Operators that update their first inputs in place, by the beginnings of their names.
IN_PLACE = ("Adam", "Apply", "Assign", "FusedAdam", "FusedApply", "Momentum", "SGD", "Scatter", "SparseApply")

#: Inputs that MindSpore's operators update in place and dump afterwards: the dump shows a result. Only some of them are
#: outputs too, and the real MindSpore leaves some of those outputs unwritten.
STATE: Mapping[str, frozenset[int]] = {
    "Adam": frozenset({0, 1, 2}),
    "AdamWeightDecay": frozenset({0, 1, 2}),
    "ApplyAdaMax": frozenset({0, 1, 2}),
    "ApplyAdadelta": frozenset({0, 1, 2}),
    "ApplyAdagrad": frozenset({0, 1}),
    "ApplyAdagradV2": frozenset({0, 1}),
    "ApplyFtrl": frozenset({0, 1, 2}),
    "ApplyAdagradDA": frozenset({0, 1, 2}),
    "ApplyPowerSign": frozenset({0, 1}),
    "ApplyAddSign": frozenset({0, 1}),
    "ApplyGradientDescent": frozenset({0}),
    "ApplyProximalGradientDescent": frozenset({0}),
    "ApplyProximalAdagrad": frozenset({0, 1}),
    "ApplyCenteredRMSProp": frozenset({0, 1, 2, 3}),
    "ApplyMomentum": frozenset({0, 1}),
    "ApplyRMSProp": frozenset({0, 1, 2}),
    "BatchNorm": frozenset({3, 4}),
    "FusedAdam": frozenset({0, 1, 2}),
    "FusedAdamWeightDecay": frozenset({0, 1, 2}),
    "Momentum": frozenset({0, 1}),
    "SGD": frozenset({0, 3, 5}),
}


class Execution(NamedTuple):
    """One execution of one operator.

    Attributes:
        rank: rank of the process.
        graph: number of the graph.
        iteration: label of the step.
        operator: full name with scope.
        execution: number of the execution in the step, from 0; above 0 only for operators that run repeatedly.
    """

    rank: int
    graph: int
    iteration: int
    operator: str
    execution: int


def execution_of(key: SlotKey) -> Execution:
    """The execution a slot belongs to."""
    return Execution(*key[:5])


def by_execution(comparison: Comparison) -> Executions:
    """The slots of each operator execution, in order."""
    slots = comparison.slots
    if isinstance(slots, Packed):
        return PackedExecutions(slots)
    executions = ListedExecutions()
    for slot in slots:
        executions.setdefault(execution_of(slot.key), []).append(slot)
    return executions


class ListedExecutions(dict[Execution, list[SlotVerdict]]):
    """Executions whose slots are all at hand."""

    def apart(self) -> Iterable[tuple[Execution, list[SlotVerdict]]]:
        """The executions with a slot that may not hold, in order, and their slots."""
        return self.items()


class PackedExecutions(Mapping[Execution, list[SlotVerdict]]):
    """Executions of a hundred thousand slots that nearly all agree: the verdicts of one are made when it is asked for.

    Args:
        slots: the slots.
    """

    def __init__(self, slots: Packed) -> None:
        self._slots = slots
        #: where the slots of each are: one stretch, but for an execution that another one interrupts
        self._spans: dict[Execution, range | list[int]] = {}
        self._apart: dict[Execution, None] = {}
        for step, first, places, apart in slots.stretches():
            start, name, number = 0, "", -1
            for at, place in enumerate(places):
                if place[0] != name or place[1] != number:
                    self._span((*step, name, number), first, start, at)
                    start, (name, number, _, _) = at, place
            self._span((*step, name, number), first, start, len(places))
            for at, is_apart in enumerate(apart):
                if is_apart:
                    self._apart[Execution(*step, *places[at][:2])] = None

    def _span(self, where: tuple[Any, ...], first: int, start: int, end: int) -> None:
        if start < end:
            places = range(first + start, first + end)
            known = self._spans.get(each := Execution(*where))
            self._spans[each] = places if known is None else [*known, *places]

    def apart(self) -> Iterator[tuple[Execution, list[SlotVerdict]]]:
        """The executions with a slot that may not hold, in order, and their slots."""
        return ((where, self[where]) for where in self._spans if where in self._apart)

    def __getitem__(self, where: Execution) -> list[SlotVerdict]:
        return [self._slots[at] for at in self._spans[where]]

    def __contains__(self, where: object) -> bool:
        return where in self._spans

    def __iter__(self) -> Iterator[Execution]:
        return iter(self._spans)

    def __len__(self) -> int:
        return len(self._spans)


Executions = ListedExecutions | PackedExecutions


def further_inputs(comparison: Comparison) -> dict[Execution, list[SlotVerdict]]:
    """The slots of other executions that count as inputs of this one (see ``Comparison.further``)."""
    if not comparison.further:
        return {}
    slots = {slot.key: slot for slot in comparison.slots}
    return {
        Execution(*where): [slots[key] for key in keys if key in slots]  # type: ignore[arg-type]
        for where, keys in comparison.further.items()
    }


def inputs_of(slots: Sequence[SlotVerdict], further: Sequence[SlotVerdict]) -> list[SlotVerdict]:
    """The inputs by which an execution is judged: its own, and further ones if its outputs were compared."""
    more = further if any(slot.key.io == "output" for slot in slots) else ()
    return [slot for slot in (*slots, *more) if slot.key.io == "input" and not slot.overwritten]


def causes(
    executions: Executions,
    further: Mapping[Execution, Sequence[SlotVerdict]],
    uncompared: Mapping[tuple[object, ...], Sequence[Uncompared]],
) -> Iterator[Execution]:
    """The executions whose outputs differ and whose inputs were all compared and agree, in order."""
    carried = carried_state(executions)
    for where, slots in executions.apart():
        whole = not any(each.carries for each in uncompared.get(where, ()))
        if whole and where not in carried and _is_cause(slots, further.get(where, ())):
            yield where


def carried_state(executions: Executions) -> set[Execution]:
    """Executions that may only pass on a difference from an earlier execution of the same operator.

    The dump does not show in-place state before its update.
    """
    differed: set[tuple[int, int, str]] = set()
    carried = set()
    for where, slots in executions.apart():
        operator = (where.rank, where.graph, where.operator)
        if operator in differed and any(slot.overwritten for slot in slots):
            carried.add(where)
        if any(slot.verdict is Verdict.DIFFERS for slot in slots):
            differed.add(operator)
    return carried


def _is_cause(slots: Sequence[SlotVerdict], further: Sequence[SlotVerdict]) -> bool:
    inputs = inputs_of(slots, further)
    outputs = [slot for slot in slots if (slot.key.io == "output" or slot.overwritten) and slot.op_type != PARAMETER]
    return (
        bool(inputs)
        and any(slot.verdict is Verdict.DIFFERS for slot in outputs)
        and all(slot.verdict.holds for slot in inputs)
    )


def mark_overwritten(
    slots: Sequence[SlotVerdict], digests: Mapping[SlotKey, tuple[bytes | None, bytes | None]]
) -> Sequence[SlotVerdict]:
    """Marks differing inputs that were recorded after their operator had updated them.

    MindSpore dumps the inputs of an operator that updates in place after it ran. This marks the inputs in ``STATE``,
    and inputs of in-place operators that have, on both sides, the bits of an output of the same execution. Other
    operators may return an input unchanged (``x * 1``).

    Args:
        digests: expected and found one of each slot.
    """
    inputs = {
        slot.key
        for slot in (slots.apart() if isinstance(slots, Packed) else slots)
        if slot.verdict is Verdict.DIFFERS
        and slot.key.io == "input"
        and (slot.op_type.startswith(IN_PLACE) or slot.op_type in STATE)
    }
    if not inputs:
        return slots
    executions = set(map(execution_of, inputs))
    outputs: dict[Execution, set[tuple[bytes | None, bytes | None]]] = defaultdict(set)
    for slot in slots:
        if slot.verdict is Verdict.DIFFERS and slot.key.io == "output" and execution_of(slot.key) in executions:
            outputs[execution_of(slot.key)].add(digests[slot.key])
    return [
        replace(slot, overwritten=True)
        if slot.key in inputs
        and (slot.key.slot in STATE.get(slot.op_type, ()) or digests[slot.key] in outputs[execution_of(slot.key)])
        else slot
        for slot in slots
    ]


def find_order_change(expected: list[SlotKey], found: list[SlotKey]) -> OrderChange | None:
    """The first common operator execution that stands at another place; ranks are examined one by one."""
    if expected == found:
        return None
    both = {key[:5] for key in expected} & {key[:5] for key in found}
    for rank in sorted({execution[0] for execution in both}):
        before, after = (
            list(dict.fromkeys(key[:5] for key in keys if key.rank == rank and key[:5] in both))
            for keys in (expected, found)
        )
        for position, (old, new) in enumerate(zip(before, after, strict=True)):
            if old != new:
                return OrderChange(position, old, new)
    return None


Digests = Mapping[SlotKey, tuple[bytes | None, bytes | None]]


def find_renames(slots: Sequence[SlotVerdict], digests: Digests) -> list[Rename]:
    """Pairs missing operators with unexpected ones of their graph, iteration, type and slots.

    Equal contents decide first; then the only remaining operator of a kind on both sides is paired. A tie makes no
    pair.

    Args:
        digests: expected and found one of each slot.
    """
    missing = _whole_executions(slots, digests, Verdict.MISSING)
    unexpected = _whole_executions(slots, digests, Verdict.UNEXPECTED)
    found: dict[Execution, Execution] = {}
    for with_content in (True, False):
        taken = set(found.values())
        groups: tuple[dict[object, list[Execution]], ...] = defaultdict(list), defaultdict(list)
        for group, side in zip(groups, (missing, unexpected), strict=True):
            for where, (looks, content) in side.items():
                if where not in found and where not in taken:
                    group[looks, content if with_content else None].append(where)
        for each, olds in groups[0].items():
            if len(olds) == len(news := groups[1].get(each, [])) == 1:
                found[olds[0]] = news[0]
    return [Rename(w.graph, w.iteration, w.operator, found[w].operator) for w in missing if w in found]


def _whole_executions(
    slots: Sequence[SlotVerdict], digests: Digests, verdict: Verdict
) -> dict[Execution, tuple[object, object]]:
    """Executions with slots of ``verdict``: what they look like but for the operator's name, and what they hold."""
    found: dict[Execution, list[tuple[object, object]]] = defaultdict(list)
    for slot in slots:
        if slot.verdict is verdict:
            content = digests.get(slot.key, (None, None))[verdict is Verdict.UNEXPECTED]
            found[execution_of(slot.key)].append(((slot.op_type, slot.key.slot_name, slot.dtype, slot.shape), content))
    return {
        where: ((where.rank, where.graph, where.iteration, where.execution, *(look for look, _ in each)),
                tuple(content for _, content in each))
        for where, each in found.items()
    }  # fmt: skip
