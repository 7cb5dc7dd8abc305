"""Computes a run again, operator by operator, from the run's own values, following the graphs of the other side."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from harness.compare.divergence import PARAMETER, Execution
from harness.compare.verdict import Comparison, SlotVerdict, Verdict
from harness.dtypes import DType, by_name, from_numpy
from harness.explain.evidence import Evidence, loaded
from harness.explain.floors import Floor, Made, agree, wide
from harness.explain.replay import Setting, computed_with_state, setting
from harness.explain.statements import Argument, Statement
from harness.records import Record, SlotKey

Array = np.ndarray[Any, np.dtype[Any]]

_WHY_ROUNDING = "rounding"
_WHY_AMPLIFIED = "amplified rounding of {}"


class Mixed(Evidence):
    """The found side's values under the expected names; ``put`` adds computed values.

    Attributes:
        narrow: the dtype of slots that the found side holds narrower than the expected side's graph says: a device that
            computes in float16 lacks the Casts to float32 and back.
    """

    def __init__(self, expected: Evidence, comparison: Comparison) -> None:
        super().__init__(tuple, dict, expected.backend, expected.emulated)
        self.graphs = expected.graphs
        self.by_key = {}
        self.narrow: dict[SlotKey, DType] = {}
        self._executions = {where: [] for where in expected.order}
        verdicts = {slot.key: slot.verdict for slot in comparison.slots}
        for key, record in expected.by_key.items():
            verdict = verdicts.get(key)
            if key in comparison.pairs:
                paired, found = comparison.pairs[key]
                if found.shape != record.shape:
                    continue
                if found.dtype == record.dtype:
                    self.put(replace(found, key=key, op_type=record.op_type))
                elif found.dtype == paired.dtype and (values := _widened(found, record)) is not None:
                    self.narrow[key] = by_name(found.dtype)
                    self.put(replace(record, values=values, digest=None))
            elif verdict is not None and verdict.holds:
                self.put(record)

    def put(self, record: Record) -> None:
        self.by_key[record.key] = record
        self._executions[Execution(*record.key[:5])].append(record)


class _Source(NamedTuple):
    """The values that an input should hold.

    Attributes:
        values: the values, from their origin.
        error: says how far these may be off; gives None where the run itself has them.
        carries: whether they contain a difference that rounding does not explain.
    """

    values: Array
    error: Callable[[], Array | None]
    carries: bool


class _Left(NamedTuple):
    """The values that an operator may have left in a parameter.

    Attributes:
        values: the values.
        floor: how far rounding may move them; None if the run itself has them.
    """

    values: Array
    floor: Callable[[], Array] | None = None


class Rerun:
    """Goes through the executions in order.

    Args:
        comparison: comparison under the table by dtype.
        expected: the side with the graphs.
        apart: whether the other side is of another framework.
        device: name of the emulated backend that made the other side; empty for anything else.

    Attributes:
        expected: the side with the graphs.
        run: the found side under the expected names.
        settled: slots that rounding explains.
        follows: compared slots that follow from the run's own values, whatever these are.
        computed: outputs missing in the run, computed from its values.
    """

    def __init__(self, comparison: Comparison, expected: Evidence, apart: bool = False, device: str = "") -> None:
        self.expected = expected
        self._apart = apart
        self._device = device
        self.run = Mixed(expected, comparison)
        self.slots: dict[Execution, dict[SlotKey, SlotVerdict]] = defaultdict(dict)
        for slot in comparison.slots:
            self.slots[Execution(*slot.key[:5])][slot.key] = slot
        self.settled: dict[SlotKey, SlotVerdict] = {}
        self.follows: set[SlotKey] = {slot.key for slot in comparison.slots if slot.verdict.holds}
        self.computed: dict[SlotKey, Array] = {}
        self._floors: dict[SlotKey, Floor] = {}
        self._bounds: dict[SlotKey, Array] = {}
        self._carried: set[object] = set()
        self._roots: dict[tuple[object, ...], str] = {}
        self._left: dict[tuple[int, str], list[_Left]] = {}

    def walk(self) -> None:
        """Settles all slots that can be settled."""
        for where in self.expected.order:
            if self.expected.op_type(where) == PARAMETER:
                self._parameter(where)
            else:
                self._operator(where)

    def bound(self, key: SlotKey) -> Array | None:
        """The possible error of a computed output; None for an output of the run."""
        if key not in self._bounds and key in self._floors:
            self._bounds[key] = self._floors[key].of(key.slot)
        return self._bounds.get(key)

    def _slots_that_differ(self, where: Execution) -> list[SlotVerdict]:
        return [slot for slot in self.slots.get(where, {}).values() if slot.verdict is Verdict.DIFFERS]

    def _parameter(self, where: Execution) -> None:
        name = where.rank, where.operator
        for slot in self._slots_that_differ(where):
            for left in self._left.get(name, ()):
                if self._agrees(slot, left.values, left.floor):
                    self._account(slot, where.operator, name in self._carried)
                    break
        held = loaded(self.run.by_key.get(key := SlotKey(*where, "output", 0)))
        if held is not None and key in self.follows:
            self._left[name] = [_Left(held)]

    def _operator(self, where: Execution) -> None:
        statement = self.run.graphs.statement(where.graph, where.operator)
        if statement is None or statement.facts is None:
            return
        mutated = statement.mutates
        root = self._root(where, statement)
        differing = self._slots_that_differ(where)
        inputs = [s for s in differing if s.key.io == "input" and s.key.slot not in mutated]
        carries = False
        for slot in inputs:
            source = self._source(where, statement.arguments[slot.key.slot])
            if source is None or not self._agrees(slot, source.values, source.error):
                carries = True
            else:
                carries |= source.carries
                self._account(slot, root, source.carries)
        results = [s for s in differing if s not in inputs]
        missing = [r for r in self.expected.slots(where, "output").values() if r.key not in self.run.by_key]
        if not (results or missing or mutated):
            return
        errors, also = self._complete(where, statement)
        ways = list(self._ways(where))
        if ways:
            given, made = ways[0]
            carries |= also or any(
                (where.rank, given.statement.arguments[at].parameter) in self._carried for at in mutated
            )
            floors = [Floor(*way, errors) for way in ways]
            for slot in results:
                if any(self._gives(slot, *each) for each in zip(ways, floors, strict=True)):
                    self._account(slot, root, carries)
            self._put(missing, made, floors[0], carries)
            self._leave(where, ways, floors, root, carries)

    def _ways(self, where: Execution) -> Iterator[tuple[Setting, Made]]:
        """The operator as computed by the expected side's framework and device, then by the found side's."""
        given = self._setting(where)
        if given is None:
            return
        for each in (given, _as_pytorch(given) if self._apart else None, self._on_found_device(given)):
            made = computed_with_state(each) if each is not None else None
            if each is not None and made is not None:
                yield each, made

    def _on_found_device(self, given: Setting) -> Setting | None:
        """The operator on the found side's device, if that is another emulated one: it may read narrower inputs."""
        return replace(given, backend=self._device) if self._device not in ("", given.backend) else None

    def _setting(self, where: Execution) -> Setting | None:
        """Like ``setting``; results missing in the run have the expected dtypes."""
        given = setting(self.run, where)
        if given is not None:
            kinds = (by_name(record.dtype) for _, record in sorted(self.expected.slots(where, "output").items()))
            given = replace(given, outputs=tuple(kinds))
            known = {at: state for at in given.statement.mutates
                     if (state := self._first_state(where, at, given)) is not None}  # fmt: skip
            given = given.changed(known)
        return given

    def _first_state(self, where: Execution, at: int, given: Setting) -> Array | None:
        """A state before its first dumped step, computed from the expected side's result if that is a multiple of the
        state plus something else. None if the state is known, or cannot be found in this way."""
        held, name = given.values.get(at), (where.rank, given.statement.arguments[at].parameter)
        after = loaded(self.expected.by_key.get(SlotKey(*where, "input", at)))
        if (
            name in self._left
            or not isinstance(held, np.ndarray)
            or held.dtype.kind != "f"
            or held.any()
            or after is None
        ):
            return None
        own = setting(self.expected, where)
        if own is None or after.shape != held.shape:
            return None
        made = [computed_with_state(own.changed({at: np.full_like(held, each)})) for each in (0, 1)]
        if made[0] is None or made[1] is None:
            return None
        rest, slope = wide(made[0][1][at]), wide(made[1][1][at]) - wide(made[0][1][at])
        with np.errstate(all="ignore"):
            before = np.where(slope != 0, (wide(after) - rest) / slope, 0).astype(held.dtype)
        again = computed_with_state(own.changed({at: before}))
        return before if again is not None and agree(after, again[1][at], from_numpy(after.dtype).name) else None

    def _gives(self, slot: SlotVerdict, way: tuple[Setting, Made], floor: Floor) -> bool:
        state = slot.key.io == "input"
        side: Any = way[1][1] if state else dict(enumerate(way[1][0]))
        at = slot.key.slot
        return at in side and self._agrees(slot, side[at], lambda: floor.of(at, state))

    def _put(self, missing: list[Record], made: Made, floor: Floor, carries: bool) -> None:
        """Adds outputs that the run lacks."""
        for record in missing:
            if record.key.slot < len(made[0]) and made[0][record.key.slot].shape == record.shape:
                values = made[0][record.key.slot]
                self.run.put(replace(record, values=values, digest=None))
                self.computed[record.key] = values
                if values.dtype.kind in "fV":
                    self._floors[record.key] = floor
                if carries:
                    self._carried.add(record.key)

    def _leave(
        self, where: Execution, ways: list[tuple[Setting, Made]], floors: list[Floor], root: str, carries: bool
    ) -> None:
        """Notes the values an operator leaves in parameters."""
        for at, array in ways[0][1][1].items():
            parameter = ways[0][0].statement.arguments[at].parameter
            if parameter is None:
                continue
            name = where.rank, parameter
            held, right = self._after_update(where, at, array)
            self._left[name] = [_Left(held)]
            if held is array and array.dtype.kind in "fV":
                self._left[name] = [
                    _Left(way[1][1][at], partial(floor.of, at, True)) for way, floor in zip(ways, floors, strict=True)
                ]
            self._roots[name] = root
            (self._carried.add if carries or not right else self._carried.discard)(name)

    def _after_update(self, where: Execution, at: int, array: Array) -> tuple[Array, bool]:
        """The value of an updated parameter: the found side's if it follows, else the computed one; and whether no slot
        contradicts it."""
        key = SlotKey(*where, "input", at)
        known = [each for each in (key, key._replace(io="output")) if each in self.slots.get(where, {})]
        seen = [loaded(self.run.by_key.get(each)) for each in known if each in self.follows]
        held = next((each for each in seen if each is not None and each.shape == array.shape), None)
        own = self.expected.by_key.get(key)
        if own is not None:
            self.run.put(replace(own, values=array if held is None else held, digest=None))
        if held is not None:
            return held, True
        return array, not any(self.slots[where][each].verdict is Verdict.DIFFERS for each in known)

    def _complete(self, where: Execution, statement: Statement) -> tuple[dict[int, Callable[[], Array | None]], bool]:
        """Completes inputs that were compared with nothing: from their origin, else from the expected side.

        Returns:
            Their possible errors by slot; whether one carries a difference.
        """
        errors: dict[int, Callable[[], Array | None]] = {}
        carries = False
        for at, record in self.expected.slots(where, "input").items():
            if record.key not in self.run.by_key and at < len(statement.arguments):
                source = self._source(where, statement.arguments[at])
                if source is None or source.values.shape != record.shape:
                    self.run.put(record)
                    continue
                self.run.put(replace(record, values=source.values, digest=None))
                carries |= source.carries
                errors[at] = source.error
        return errors, carries

    def _source(self, where: Execution, argument: Argument) -> _Source | None:
        """The values an input should hold, from its origin."""
        if argument.producer is not None:
            made = where._replace(operator=argument.producer[0])
            key = SlotKey(*made, "output", argument.producer[1])
            values = loaded(self.run.by_key.get(key))
            slot = self.slots.get(made, {}).get(key)
            wrong = slot is not None and slot.verdict is Verdict.DIFFERS and key not in self.settled
            return None if values is None else _Source(values, partial(self.bound, key), wrong or key in self._carried)
        name = where.rank, argument.parameter or ""
        left = next(iter(self._left.get(name, ())), None)
        return None if left is None else _Source(left.values, left.floor or _no_error, name in self._carried)

    def _root(self, where: Execution, statement: Statement) -> str:
        """The operator whose rounding an execution passes on; itself if its inputs have none."""
        for argument in statement.arguments:
            if argument.producer is not None:
                maker: tuple[object, ...] = where._replace(operator=argument.producer[0])
            else:
                maker = (where.rank, argument.parameter)
            if maker in self._roots:
                self._roots[where] = self._roots[maker]
                return self._roots[where]
        if any(slot.verdict is not Verdict.IDENTICAL for slot in self.slots.get(where, {}).values()):
            self._roots[where] = where.operator
        return where.operator

    def _agrees(self, slot: SlotVerdict, wanted: Array, floor: Callable[[], Array | None] | None = None) -> bool:
        found = loaded(self.run.by_key.get(slot.key))
        if found is None:
            return False
        if (narrow := self.run.narrow.get(slot.key)) is not None:
            wanted, found = (each.astype(narrow.numpy) for each in (wanted, found))
        return agree(wanted, found, slot.dtype) or (
            floor is not None and (bound := floor()) is not None and agree(wanted, found, slot.dtype, bound)
        )

    def _account(self, slot: SlotVerdict, root: str, carries: bool) -> None:
        """Notes that a slot follows from the run's values: its difference is rounding, unless they carry another
        difference."""
        self.follows.add(slot.key)
        if not carries:
            own = slot.key.operator == root and slot.key.io == "output"
            why = _WHY_ROUNDING if own else _WHY_AMPLIFIED.format(root)
            self.settled[slot.key] = replace(slot, verdict=Verdict.WITHIN, reason=f"{slot.reason}: {why}")


def _widened(found: Record, record: Record) -> Array | None:
    """The values of a record in the wider type of another one; None where they would not stay the same."""
    one, other = by_name(found.dtype).numpy, by_name(record.dtype).numpy
    if one.kind not in "fV" or other.kind != "f" or one.itemsize >= other.itemsize:
        return None
    values = loaded(found)
    return None if values is None else values.astype(other)


def _no_error() -> None:
    """The run's own values have no error."""


def _as_pytorch(given: Setting) -> Setting | None:
    """Adam as PyTorch has it: epsilon is added to the corrected root of the second moment, which is MindSpore's formula
    with another epsilon."""
    if given.statement.op != "Adam":
        return None
    power, epsilon = np.asarray(given.values[4]), np.asarray(given.values[8])
    return given.changed({8: (epsilon * np.sqrt(1 - power)).astype(epsilon.dtype)})
