"""Finds the first divergence of a comparison; see ``origin`` for its definition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from harness.compare.calls import Given
from harness.compare.dataflow import EXPECTED, FOUND, Makers, Stated, producers
from harness.compare.divergence import (
    IN_PLACE,
    PARAMETER,
    Execution,
    Executions,
    by_execution,
    carried_state,
    execution_of,
    further_inputs,
    inputs_of,
)
from harness.compare.origin import Downstream, Input, Kind, Origin, State
from harness.compare.structure import Structure, one_sided
from harness.compare.verdict import Comparison, SlotVerdict, Verdict
from harness.devices.operators import COMMUNICATION
from harness.dtypes import ARGUMENT_FORMAT
from harness.errors import HarnessError

#: Kinds that are certain; the earliest of them counts before all others.
_CERTAIN = frozenset({Kind.COMPUTED, Kind.UNRECORDED, *(kind for kind in Kind if kind.structural)})
#: Kinds of operators that one side lacks, or has elsewhere.
_OF_ONE_SIDE = frozenset({Kind.REMOVED, Kind.INSERTED, Kind.REPLACED, Kind.MOVED})
#: Operators that only move values: they never make a difference.
_LAYS_OUT = frozenset(
    name for names in (
        "Reshape Flatten ExpandDims Squeeze view _unsafe_view reshape flatten unsqueeze squeeze unflatten",
        "_reshape_alias",
        "Transpose t transpose permute TransposeExt numpy_T Concat ConcatD cat Stack stack",
    ) for name in names.split()
)  # fmt: skip
#: Tensors above this size are not sorted.
_MOST = 1 << 24
_OVERWRITTEN = "the operator wrote to it, and it was recorded afterwards"


class _Event(NamedTuple):
    """An execution at which something new happens.

    Attributes:
        doubtful: an input agrees only within a tolerance, so it may carry an earlier difference.
        called: it was called with another argument that is no tensor (``eps``), and nothing else differs that it takes.
    """

    where: Execution
    kind: Kind
    counterpart: str | None = None
    doubtful: bool = False
    called: bool = False


def first_divergence(comparison: Comparison) -> Origin | None:
    """The earliest operator execution at which the difference of both sides begins.

    Certain cases come first: every input was compared and agrees but an output differs; only one side has the operator,
    or has it at another place, and nothing differs before it; something unrecorded changed values between two recorded
    operators. Next comes the earliest execution that received something else (a weight, data), or whose inputs were not
    all compared. State recorded after its update says nothing about the inputs. A collective's inputs are those of all
    ranks. Of several ranks, which ran in parallel, the one that differs in the earliest iteration counts.

    Args:
        comparison: comparison of both sides, see ``check``.

    Returns:
        None if both sides agree, or have no slot in common.

    Examples:
        >>> from harness.capture import Capture, read_tree
        >>> from harness.compare import check, first_divergence
        >>> def changed():
        ...     for record in read_tree("later").records():
        ...         if record.key.operator.endswith("BiasAdd-op0") and record.key.io == "output":
        ...             record.values, record.digest = record.load() + 1, None
        ...         yield record
        >>> origin = first_divergence(check(read_tree("dump"), Capture("Net", "cpu", True, changed)))
        >>> origin.kind.value, origin.where.operator, origin.where.iteration
        ('computed otherwise', 'Default/BiasAdd-op0', 0)
    """
    if not comparison.failures():
        return _of_order(comparison)
    if comparison.counts[Verdict.MISSING] + comparison.counts[Verdict.UNEXPECTED] == comparison.total:
        return None
    search = _Search(comparison)
    # A replacing operator is found at its own place, but counts at the place of the operator it replaces.
    placed = {where: at for at, where in enumerate(search.executions)}
    events = [event for event in search.events() if search.executions[event.where]]
    events.sort(key=lambda event: placed[event.where])
    operators = [e for e in events if search.executions[e.where][0].op_type != PARAMETER]
    certain = _earliest(e for e in operators if (e.kind in _CERTAIN or e.called) and not e.doubtful)
    if certain is not None and not search.is_wrong_by_itself(certain):
        # Values that differ from the start may be the reason: an earlier operator that takes such values counts first.
        # So does anything that differs in an earlier iteration.
        before = (e for e in operators if e.where.iteration < certain.where.iteration and not e.doubtful)
        certain = _earliest(before) or _earliest(
            e for e in operators if e.kind in (*_CERTAIN, Kind.GIVEN) and not e.doubtful
        )
    if certain is not None and certain.kind in _OF_ONE_SIDE:
        # What differs before an operator that one side lacks, or that stands elsewhere, does not come from that.
        certain = _earliest(e for e in operators if e is certain or _stands_before(e, certain, placed))
    chosen = certain or _earliest(iter(operators)) or _earliest(iter(events))
    return search.origin(chosen) if chosen is not None else None


def _stands_before(event: _Event, other: _Event, placed: Mapping[Execution, int]) -> bool:
    """Whether an event that is not certain comes before another one in its step."""
    one, two = event.where, other.where
    same = (one.rank, one.iteration) == (two.rank, two.iteration)
    return event.kind is Kind.UNSURE and not event.doubtful and same and placed[one] < placed[two]


def _earliest(events: Iterator[_Event]) -> _Event | None:
    """The first event of the rank that differs in the earliest iteration."""
    firsts: dict[int, _Event] = {}
    for event in events:
        firsts.setdefault(event.where.rank, event)
    return min(firsts.values(), key=lambda each: (each.where.iteration, each.where.rank), default=None)


def _of_order(comparison: Comparison) -> Origin | None:
    """The origin if only the order of execution differs."""
    change = comparison.order
    if change is None:
        return None
    where = Execution(*change.expected)
    structure = Structure(comparison, by_execution(comparison), Stated(comparison))
    slots = tuple(structure.executions[where])
    return Origin(
        Kind.MOVED, where, slots, before=structure.before(where, None), op_types=(slots[0].op_type, ""),
        downstream=downstream(structure.executions, where),
    )  # fmt: skip


class _Search:
    """Walks the executions of one comparison."""

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison
        self.executions = by_execution(comparison)
        self._further = further_inputs(comparison)
        stated = Stated(comparison)
        self._producers = producers(comparison, self.executions, stated)
        self._makers = Makers(comparison, stated)
        self._structure = Structure(comparison, self.executions, stated)
        self._given = Given(self.executions)

    def events(self) -> Iterator[_Event]:
        """Executions at which something new happens, in order."""
        given: set[tuple[bytes | None, bytes | None]] = set()
        carried = carried_state(self.executions)
        for where, slots in self.executions.apart():
            side = one_sided(slots)
            if side is not None:
                yield _Event(*self._structure.change(where, side))
                continue
            differing = [slot for slot in slots if not slot.verdict.holds]
            if not differing:
                continue
            kind = self._kind(where, slots, where in carried)
            if kind is Kind.GIVEN:  # only the first operator that takes it
                contents = {self._comparison.digests.get(s.key, (None, None)) for s in self._loose(where, slots)}
                if contents and contents <= given:
                    continue
                given |= contents
            if kind is not None:
                doubtful = any(slot.verdict is Verdict.WITHIN for slot in slots)
                yield _Event(where, kind, doubtful=doubtful, called=_is_called_otherwise(slots))

    def is_wrong_by_itself(self, event: _Event) -> bool:
        """Whether an operator's output differs although all its inputs agree and it keeps no state. Inputs of which a
        few statistics agree may be others."""
        slots = self.executions[event.where]
        inputs = inputs_of(slots, self._further.get(event.where, ()))
        summed = any(slot.verdict is Verdict.STATISTICS for slot in inputs)
        return event.kind is Kind.COMPUTED and not summed and not any(slot.overwritten for slot in slots)

    def _kind(self, where: Execution, slots: Sequence[SlotVerdict], carried: bool) -> Kind | None:
        inputs = inputs_of(slots, self._further.get(where, ()))
        outputs = [slot for slot in slots if slot.key.io == "output" or slot.overwritten]
        differs = any(not slot.verdict.holds for slot in outputs)
        bad = [slot for slot in inputs if not slot.verdict.holds]
        if slots[0].op_type == PARAMETER:
            return None if any(slot.key in self._producers for slot in slots) else Kind.GIVEN
        shifted = any(self._formats(slot).count(ARGUMENT_FORMAT) == 1 for slot in bad)
        if (differs or shifted) and self._takes_more(where, slots, bad, shifted):
            return Kind.ARGUMENTS
        if not bad:
            if not differs or carried or self._comes_from_other_ranks(where, slots):
                return None
            if self._given.takes_more(where):
                return self._given.kind(where)
            whole = bool(inputs) and not self._uncompared(where) and not self._has_unknown_state(where, slots)
            if whole and self._holds_other_values(slots):
                return Kind.UNRECORDED
            return Kind.COMPUTED if whole else Kind.UNSURE
        if differs and not carried and all(slot.verdict is Verdict.UNSURE for slot in bad):
            return Kind.UNSURE
        loose = self._loose(where, slots)
        return self._of_input(loose) if loose else None

    def _comes_from_other_ranks(self, where: Execution, slots: Sequence[SlotVerdict]) -> bool:
        """Whether it is a collective that another rank gave something else."""
        if slots[0].op_type not in COMMUNICATION:
            return False
        mates = [each for each in self.executions if each[1:] == where[1:] and each.rank != where.rank]
        return any(not slot.verdict.holds for mate in mates for slot in self.executions[mate] if slot.key.io == "input")

    def _takes_more(
        self, where: Execution, slots: Sequence[SlotVerdict], bad: Sequence[SlotVerdict], shifted: bool
    ) -> bool:
        """Whether one side alone gives it an input, and all others agree. Only operators of one scope count, and none
        that updates state, because frameworks give those other inputs. ``shifted``: numbers and texts follow the
        tensors, and one tensor more gave all of them other slots."""
        lone = (Verdict.MISSING, Verdict.UNEXPECTED)
        left = [slot for slot in bad if not (shifted and ARGUMENT_FORMAT in self._formats(slot))]
        others = all(slot.verdict in lone for slot in left)
        if not others or any(slot.overwritten or slot.op_type.startswith(IN_PLACE) for slot in slots):
            return False
        counterparts = self._comparison.counterparts.get(where, ())
        scopes = {name.rpartition("/")[0] for name in (where.operator, *counterparts)}
        return bool(bad or (counterparts and self._uncompared(where))) and len(scopes) == 1

    def _formats(self, slot: SlotVerdict) -> tuple[str, ...]:
        return tuple(record.format for record in self._comparison.pairs.get(slot.key, ()))

    def _holds_other_values(self, slots: Sequence[SlotVerdict]) -> bool:
        """Whether an operator that only moves values gives values that its agreeing inputs lack, so that something
        unrecorded wrote to it."""
        pair = self._comparison.pairs.get(next((s.key for s in slots if s.key.io == "output"), slots[0].key))
        if pair is None or slots[0].op_type not in _LAYS_OUT or pair[0].dtype != pair[1].dtype:
            return False
        try:
            sides = [side for record in pair if (side := record.load()) is not None]
        except HarnessError:
            return False
        if len(sides) < len(pair) or any(side.size > _MOST for side in sides):
            return False
        one, other = (np.sort(np.ascontiguousarray(side).reshape(-1).view(f"V{side.itemsize}")) for side in sides)
        return one.tobytes() != other.tobytes()

    def _has_unknown_state(self, where: Execution, slots: Sequence[SlotVerdict]) -> bool:
        """Whether it keeps state that differs now, without an earlier execution to compare."""
        digests = self._comparison.digests
        given = {digests.get(slot.key) for slot in slots if slot.key.io == "output"}
        if all(digests.get(slot.key) in given for slot in slots if slot.overwritten):
            return False
        operator = (where.rank, where.graph, where.operator)
        earlier = next(each for each in self.executions if (each.rank, each.graph, each.operator) == operator)
        return earlier == where

    def _uncompared(self, where: Execution) -> list[Input]:
        """Inputs that were not compared and that carry more than a number."""
        return [
            Input(each.key, State.NOT_COMPARED, each.why)
            for each in self._comparison.uncompared.get(where, ())
            if each.carries
        ]

    def _loose(self, where: Execution, slots: Sequence[SlotVerdict]) -> list[SlotVerdict]:
        """Differing inputs that come from no output on both sides."""
        inputs = inputs_of(slots, self._further.get(where, ()))
        return [
            slot
            for slot in inputs
            if slot.verdict is Verdict.DIFFERS
            and slot.key not in self._producers
            and (self._is_rewired(slot) or not self._is_consequence(slot))
        ]

    def _is_rewired(self, slot: SlotVerdict) -> bool:
        """Whether it comes from operators that both sides have, but from a different one on each side."""
        sides = [self._makers.of(slot, side) for side in (EXPECTED, FOUND)]
        if any(not made or one_sided(made[:1]) is not None for made in sides):
            return False
        expected, found = ({execution_of(maker.key) for maker in made} for made in sides)
        return not expected & found

    def _is_consequence(self, slot: SlotVerdict) -> bool:
        """Whether on one side it comes from an operator that only this side has, or that differs itself."""
        return any(
            one_sided([maker]) is not None or not maker.verdict.holds
            for side in (EXPECTED, FOUND)
            for maker in self._makers.of(slot, side)[:1]
        )

    def _of_input(self, loose: Sequence[SlotVerdict]) -> Kind:
        """The cause of unexpected inputs that no recorded operator made."""
        for slot in loose:
            if self._is_rewired(slot):
                return Kind.REWIRED
            if any(self._makers.of(slot, side) for side in (EXPECTED, FOUND)):
                return Kind.UNRECORDED
        return Kind.GIVEN

    def origin(self, event: _Event) -> Origin:
        """The facts about the first divergence."""
        where, slots = event.where, self.executions[event.where]
        shown = [slot for slot in slots if not slot.verdict.holds]
        shown.sort(key=lambda slot: (slot.key.io != "output", slot.overwritten))
        counterpart = event.counterpart or _found_as(shown[0], self._comparison.counterparts.get(where, ()))
        other = self._structure.find(counterpart, where)
        kind = event.kind
        before = self._structure.before(where, other)
        if kind is Kind.REWIRED and before[0] != before[1] and self._is_elsewhere(where, shown):
            kind = Kind.MOVED
        return Origin(
            kind,
            where,
            tuple(shown),
            tuple(self._inputs(where, slots)),
            counterpart,
            before,
            (slots[0].op_type, self.executions[other][0].op_type if other is not None else ""),
            self._earliest_before(where),
            downstream(self.executions, where, other),
        )

    def _is_elsewhere(self, where: Execution, shown: Sequence[SlotVerdict]) -> bool:
        """Whether it takes what came after it, or what it took comes after it: an operator whose operands are exchanged
        stands where it stood."""
        places = self._structure.places
        for slot in shown:
            if slot.key.io == "input" and self._is_rewired(slot):
                makers = (execution_of(self._makers.of(slot, 1 - side)[0].key) for side in (EXPECTED, FOUND))
                if any(at.get(maker, -1) > at.get(where, -1) for at, maker in zip(places, makers, strict=True)):
                    return True
        return False

    def _inputs(self, where: Execution, slots: Sequence[SlotVerdict]) -> Iterator[Input]:
        own = [slot for slot in slots if slot.key.io == "input"]
        for slot in dict.fromkeys((*own, *inputs_of(slots, self._further.get(where, ())))):
            state = State.AGREES if slot.verdict.holds else State.DIFFERS
            why = ""
            if slot.overwritten:
                state, why = State.NOT_COMPARED, _OVERWRITTEN
            elif slot.verdict in (Verdict.MISSING, Verdict.UNEXPECTED, Verdict.UNSURE):
                state, why = State.NOT_COMPARED, slot.reason
            elif slot.by_statistics and slot.verdict.holds:
                why = "statistics agree"
            sides = [self._makers.of(slot, side) if state is State.DIFFERS else [] for side in (EXPECTED, FOUND)]
            names = [made[0].key.operator if made else None for made in sides]
            yield Input(slot.key, state, why, slot, names[0], names[1])
        for each in self._comparison.uncompared.get(where, ()):
            yield Input(each.key, State.NOT_COMPARED, each.why)

    def _earliest_before(self, where: Execution) -> SlotVerdict | None:
        """The earliest differing slot, where another execution has it."""
        for _, slots in self.executions.apart():
            for slot in slots:
                if slot.verdict is Verdict.DIFFERS:
                    return None if execution_of(slot.key) == where else slot
        return None


def _is_called_otherwise(slots: Sequence[SlotVerdict]) -> bool:
    """Whether arguments differ that are no tensors, and no other input does."""
    bad = [slot for slot in slots if slot.key.io == "input" and not slot.verdict.holds]
    return bool(bad) and all(slot.format == ARGUMENT_FORMAT for slot in bad)


def _found_as(slot: SlotVerdict, counterparts: Sequence[str]) -> str | None:
    """The operator that has the slot on the found side, or, where that is a layout before it, its counterpart."""
    name = slot.found_as.operator if slot.found_as is not None else slot.key.operator
    if counterparts and name not in counterparts:
        name = counterparts[0]
    return name if slot.found_as is not None or name != slot.key.operator else None


def downstream(executions: Executions, origin: Execution, counterpart: Execution | None = None) -> Downstream:
    """What differs besides the origin.

    Args:
        executions: slots by execution.
        origin: the origin's.
        counterpart: the run's operator in its place, which is no further one where the run alone has it.
    """
    bad = [where for where, slots in executions.apart() if any(not slot.verdict.holds for slot in slots)]
    lone = counterpart in executions and one_sided(executions[counterpart]) == FOUND if counterpart else False
    others = sum(where != origin and not (lone and where == counterpart) for where in bad)
    ranks, iterations = sorted({where.rank for where in bad}), sorted({where.iteration for where in bad})
    return Downstream(others, len(executions) - len(bad), tuple(ranks), tuple(iterations))
