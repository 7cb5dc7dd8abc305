"""The rule of ``tolerance="noise"`` for captures without graphs: PyTorch's.

An operator is right if it gives the golden's results from the golden's inputs and the run's results from the run's
inputs, each within the noise of its rounding: then it computes the same in both environments, and whatever differs came
in. What came in must come from an operator that is right, too: equal contents show which one made it. Where the golden
kept digests alone, the run's side has to show it: both state the same operator and arguments. Where neither side kept
values, statistics have to do, see ``numbers_apart``. What no operator made, a weight that was drawn before, has other
last bits on another processor, too: it may differ within its tolerance.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from harness.compare.divergence import Execution
from harness.compare.verdict import Comparison, SlotVerdict, Verdict
from harness.dtypes import ARGUMENT_FORMAT
from harness.explain.evidence import Evidence, loaded
from harness.explain.numbers_apart import could_be_rounding
from harness.explain.recorded import NO_OPERATORS, recorded
from harness.explain.replay import Setting
from harness.explain.reread import results_of, same
from harness.explain.work import Work, of_records
from harness.records import Record, SlotKey

Array = np.ndarray[Any, np.dtype[Any]]

#: elements to compute, see ``work``; what is not reached by then keeps its verdict
WORK = 1 << 33
#: about so often each operator is computed
_REPLAYS = 4
REASON = "rounding: the operator gives both sides' results from their own inputs"
STATED = "rounding, by statistics alone: the same operator and arguments, and what it read is the same but for rounding"
PASSED_ON = "rounding: passed on by operators that give both sides' results from their own inputs"
_ALONE = (Verdict.MISSING, Verdict.UNEXPECTED)


class Settling:
    """Settles a comparison of two captures.

    Args:
        comparison: the comparison; ``comparison.pairs`` has the records that differ.
        expected, found: the sides.
        work: number of elements to compute, see ``work``.

    Attributes:
        settled: verdicts of the slots that rounding explains, by key.
    """

    def __init__(self, comparison: Comparison, expected: Evidence, found: Evidence, work: int = WORK) -> None:
        self._expected, self._found = expected, found
        self._described = comparison.described
        self._work = Work(work)
        self._slots: dict[Execution, list[SlotVerdict]] = {}
        for slot in comparison.slots:
            self._slots.setdefault(Execution(*slot.key[:5]), []).append(slot)
        #: contents on both sides of what is right
        self._right: set[tuple[bytes | None, bytes | None]] = set()
        self._numbers: set[tuple[float, float]] = set()
        self.settled: dict[SlotKey, SlotVerdict] = {}

    def walk(self) -> None:
        """Settles what can be settled, in the golden's order."""
        for where in self._expected.order:
            apart = [slot for slot in self._slots.get(where, ()) if slot.verdict is not Verdict.IDENTICAL]
            if not apart or any(slot.verdict in _ALONE for slot in apart):
                continue
            pairs = {slot.key: self._pair(slot) for slot in apart}
            if None in pairs.values():
                continue
            if not self._work.admits(_REPLAYS * of_records(each[0] for each in pairs.values() if each is not None)):
                return
            self._execution(where, apart, {key: pair for key, pair in pairs.items() if pair is not None})

    def _execution(
        self, where: Execution, apart: list[SlotVerdict], pairs: dict[SlotKey, tuple[Record, Record]]
    ) -> None:
        inputs = [slot for slot in apart if slot.key.io == "input"]
        outputs = [slot for slot in apart if slot.key.io == "output"]
        if not all(self._came_in(slot, *pairs[slot.key]) for slot in inputs):
            return
        for slot in inputs:
            self._settle(slot, PASSED_ON)
        if not outputs:
            return
        if all(self._is_right(*pairs[slot.key]) for slot in outputs):  # a parameter, a result, a view
            reason = PASSED_ON
        elif self._reads_nothing(where) and all(slot.verdict is Verdict.WITHIN for slot in outputs):
            reason = PASSED_ON  # drawn from the same state with the same arguments
        elif (shown := self._shown(where, Execution(*pairs[outputs[0].key][1].key[:5]))) is not None:
            reason = shown
        else:
            return
        for slot in outputs:
            self._settle(slot, reason)
            self._note(*pairs[slot.key])

    def _pair(self, slot: SlotVerdict) -> tuple[Record, Record] | None:
        one, other = self._expected.by_key.get(slot.key), self._found.by_key.get(slot.found_as or slot.key)
        return None if one is None or other is None else (one, other)

    def _came_in(self, slot: SlotVerdict, one: Record, other: Record) -> bool:
        if ARGUMENT_FORMAT in (one.format, other.format):
            return slot.verdict.holds
        if self._is_right(one, other):
            return True
        is_given = self._expected.content(one) in self._given[0] and self._found.content(other) in self._given[1]
        if slot.verdict is Verdict.WITHIN and is_given:
            self._note(one, other)
            return True
        return False

    def _reads_nothing(self, where: Execution) -> bool:
        """Whether an operator has no tensors to read, none that were written nor others."""
        inputs = self._expected.slots(where, "input").values()
        made = self._expected.op_type(where) not in NO_OPERATORS
        return made and all(each.format == ARGUMENT_FORMAT for each in inputs)

    @cached_property
    def _given(self) -> tuple[set[bytes | None], set[bytes | None]]:
        """The contents that were read on either side before any operator gave them."""
        return _read_first(self._expected), _read_first(self._found)

    def _is_right(self, one: Record, other: Record) -> bool:
        if (self._expected.content(one), self._found.content(other)) in self._right:
            return True
        numbers = _number(one), _number(other)
        return None not in numbers and numbers in self._numbers

    def _note(self, one: Record, other: Record) -> None:
        self._right.add((self._expected.content(one), self._found.content(other)))
        numbers = _number(one), _number(other)
        if numbers[0] is not None and numbers[1] is not None:
            self._numbers.add((numbers[0], numbers[1]))

    def _settle(self, slot: SlotVerdict, reason: str) -> None:
        if slot.verdict is Verdict.DIFFERS:
            self.settled[slot.key] = replace(slot, verdict=Verdict.WITHIN, reason=reason)

    def _shown(self, where: Execution, there: Execution) -> str | None:
        """How it is shown that the operator computes the same on both sides; None if it is not."""
        sides = (self._expected, where), (self._found, there)
        if all(results_of(*each) is None for each in sides):
            kinds = {side.op_type(at) for side, at in sides}
            states = [each.get((where.rank, where.graph, where.operator)) for each in self._states]
            if len(kinds) > 1 or kinds & NO_OPERATORS or states[0] != states[1]:
                return None
            return STATED if could_be_rounding(kinds.pop(), *((side.slots(at, "input"), side.slots(at, "output"))
                                                              for side, at in sides)) else None  # fmt: skip
        return REASON if self._computes(where, there) else None

    @cached_property
    def _states(self) -> list[dict[Any, str]]:
        """What operators state that no slot shows, the states of generators among it, by the golden's names."""
        return [{key: repr(dict(each.attributes)) for key, each in side().items()} for side in self._described]

    def _computes(self, where: Execution, there: Execution) -> bool:
        """Whether the operator gives both sides' results from their own inputs, as far as these were kept."""
        inputs = self._expected.slots(where, "input"), self._found.slots(there, "input")
        other = recorded(self._found, there, inputs[0])
        made = results_of(self._found, there)
        if other is None or other.replayer is None or made is None:
            return False
        solved = other.replayer.solve(other.call(), made)
        other = other if solved is None else other.changed(attrs=solved)
        read = _read(other, made)
        if read is None:
            return False
        one = recorded(self._expected, where, inputs[1])
        wanted = results_of(self._expected, where)
        if one is None or wanted is None:
            return self._expected.op_type(where) == self._found.op_type(there)
        one = one if solved is None else one.changed(attrs=solved)
        return _gives(replace(one, reading=read.reading), wanted)


def _read_first(side: Evidence) -> set[bytes | None]:
    given: set[bytes | None] = set()
    made: set[bytes | None] = {None}
    for where in side.order:
        if side.op_type(where) in NO_OPERATORS:
            continue
        given |= {side.content(each) for each in side.slots(where, "input").values()} - made
        made |= {side.content(each) for each in side.slots(where, "output").values()}
    return given


def _number(record: Record) -> float | None:
    values = loaded(record) if all(length == 1 for length in record.shape) else None
    return float(values.reshape(-1)[0]) if values is not None and values.dtype.kind in "fiubV" and values.size else None


def _read(given: Setting, wanted: list[Array]) -> Setting | None:
    """The first reading that gives the results bit for bit, else the first that gives them within noise."""
    near = None
    for each in given.readings():
        made = each.replayer.replay(each.call()) if each.replayer is not None else None
        if made is None or len(made.outputs) != len(wanted):
            continue
        if all(map(same, made.outputs, wanted)):
            return each
        near = near or each
    return near if near is not None and _gives(near, wanted) else None


def _gives(given: Setting, wanted: list[Array]) -> bool:
    """Whether an operator gives these results, within the noise of its rounding."""
    if given.replayer is None:
        return False
    made = given.replayer.replay(given.call())
    if made is None or len(made.outputs) != len(wanted):
        return False
    if all(map(same, made.outputs, wanted)):
        return True
    noise = given.replayer.noise(given.call())
    return noise is not None and all(map(_near, made.outputs, wanted, noise))


def _near(made: Array, wanted: Array, noise: Array) -> bool:
    if made.dtype != wanted.dtype or made.shape != wanted.shape:
        return False
    wide = np.complex128 if made.dtype.kind == "c" else np.float64
    with np.errstate(all="ignore"):
        one, other = made.astype(wide), wanted.astype(wide)
        equal = (one == other) | (np.isnan(one) & np.isnan(other))
        return bool(np.all(equal | (np.abs(one - other) <= noise)))
