"""Which rank of several left a run of one rank first, and why, in that run's terms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from harness.explain.layouts import causes
from harness.explain.layouts.flow import Flow
from harness.explain.layouts.joining import Layout, Whole
from harness.explain.layouts.noise import distance, driven_by_noise, updated, within
from harness.explain.layouts.table import Table
from harness.explain.layouts.taken import with_taken
from harness.explain.ranks.finding import Finding, RanksReport
from harness.explain.ranks.timeline import GRADIENT, PARAMETER, Execution, Run
from harness.records import Array, Record
from harness.words import counted

_HELD = (PARAMETER, GRADIENT)
_LEFT_OUT, _MOVED = "the table leaves it out", "rounding has moved its module's parameters"
#: why a slot is not compared although everything is known
_MEANT = frozenset({_LEFT_OUT, _MOVED})
_BOUNDARIES = (PARAMETER, GRADIENT, "Module", "Result")
_UNSAID = "operators hold what a layout makes of it, and nothing states how that is joined"
#: so many reasons why slots were not compared are listed
_LISTED = 4
#: what is apart by more than this (relative) says nothing about a module's results
_MOST = 1e-2


@dataclass
class _Seen:
    """What is known of one execution of the one rank.

    Attributes:
        outputs, inputs: slots that differ, with their wholes.
        compared: how many slots were compared.
    """

    outputs: list[tuple[Record, Whole]] = field(default_factory=list)
    inputs: list[tuple[Record, Whole]] = field(default_factory=list)
    compared: int = 0


class Layouts:
    """A run of several ranks beside one of one rank.

    Args:
        run: of several ranks.
        one: of one rank.
        table: placements and names that are declared.
    """

    def __init__(self, run: Run, one: Run, table: Table) -> None:
        run, one = with_taken(run), with_taken(one)
        self.layout, self.one, self.run = Layout(run, one, table), one, run
        self.why: Counter[str] = Counter()
        self.examples: dict[str, str] = {}
        self.inferred = 0
        self._inherited: dict[int, float] = {}
        #: elements of parameters that noise has moved
        self._moved: dict[str, Array] = {}
        self._largest: dict[tuple[int, str], float] = {}
        #: what the parameters of a module are apart after an iteration, those that noise has moved included
        self._own: dict[tuple[int, str], float] = {}
        self._known: dict[tuple[int, str, str], tuple[Whole, Array]] = {}

    def report(self) -> RanksReport:
        """Which rank left first; ``notes`` say what was joined by shapes alone and what was not compared."""
        report = RanksReport(tuple(self.run.ranks))
        for step in _steps(self.layout.line, self.one.is_weight):
            findings = list(self._step(step, report))
            if findings:
                report.first, report.others = _telling(findings), _apart(findings)
                if not self._begins(report.first):
                    self._trace(report, step[0].iteration)
                break
        report.unread = sum(count for why, count in self.why.items() if why not in _MEANT)
        report.notes = [*self._notes()]
        for each in [report.first, *report.others]:
            for rank in each.ranks if each is not None else ():
                report.earliest.setdefault(rank, each.execution)  # type: ignore[union-attr]
        return report

    def _begins(self, first: Finding) -> bool:
        """Whether it is what a step begins with: data, or a parameter as it is first read."""
        return first.execution.op_type == PARAMETER and (
            first.slot.startswith("input") or not self.one.is_weight(first.execution)
        )

    def _trace(self, report: RanksReport, iteration: int) -> None:
        """Says the operator where it began, where that is shown and says more."""
        flow = Flow(self.layout, self.run, self.one, iteration, self._inherited.get(iteration - 1, 0.0))
        found, first = flow.origin(), report.first
        if first is None or (first.cause is not None and (found is None or found.cause is None)):
            return
        fewer = flow.fewer() if first.cause is None and (found is None or found.cause is None) else None
        if fewer is not None:
            first.ranks, first.cause = fewer
        elif found is not None and (found.cause is not None or flow.is_paired):
            report.first, report.others = found, []

    def _notes(self) -> Iterator[str]:
        if self.inferred:
            yield f"{counted(self.inferred, 'slot')} joined as their shapes say: nothing states where the parts lie"
        if alone := [name for name, mask in self._moved.items() if mask.all()]:
            more = ", ..." * (len(alone) > _LISTED)
            yield f"Moved by rounding alone, and not compared: {', '.join(alone[:_LISTED])}{more}"
        for why, count in self.why.most_common(_LISTED):
            yield f"Not compared: {counted(count, 'slot')} such as {self.examples[why]}: {why}"
        if len(self.why) > _LISTED:
            yield f"and {sum(count for _, count in self.why.most_common()[_LISTED:])} more for other reasons"

    def _step(self, step: Sequence[Execution], report: RanksReport) -> Iterator[Finding]:
        """Findings of one iteration, the first in the order of execution first."""
        iteration = step[0].iteration
        inherited = self._inherited.get(iteration - 1, 0.0)
        self._gradients(step)
        seen = {id(each): self._look(each, inherited) for each in step}
        report.compared += sum(each.compared for each in seen.values())
        self._inherited[iteration] = max([inherited, *self._apart(step)])
        self._moved_modules(step)
        differ = [each for each in step if seen[id(each)].inputs or seen[id(each)].outputs]
        for at, each in enumerate(differ):
            mine = seen[id(each)]
            if not at or (mine.outputs and not mine.inputs):
                yield self._finding(each, (mine.inputs or mine.outputs)[0], inherited)

    def _gradients(self, step: Sequence[Execution]) -> None:
        """Notes the largest gradient of each module, and what of its parameters rounding moves."""
        found = [(each, np.asarray(value)) for each in step if each.op_type == GRADIENT
                 for value in each.values() or () if value.size]  # fmt: skip
        for each, value in found:
            module = each.iteration, _owner(each.operator)
            largest = float(np.abs(value.astype(np.float64)).max())
            self._largest[module] = max(self._largest.get(module, 0.0), largest if np.isfinite(largest) else 0.0)
        for each, value in found:
            name = each.operator.removesuffix(".grad")
            mask = driven_by_noise(value, self._largest[each.iteration, _owner(each.operator)])
            known = self._moved.get(name)
            self._moved[name] = mask | known if known is not None and known.shape == mask.shape else mask

    def _still(self, name: str, value: Array) -> Array:
        """A parameter without the elements that noise has moved."""
        mask = self._moved.get(name)
        return value[~mask] if mask is not None and mask.shape == value.shape else value

    def _apart(self, step: Sequence[Execution]) -> Iterator[float]:
        """What parameters are apart at the end of an iteration."""
        for each in step:
            known = self._known.get((each.iteration, each.operator, "output.0"))
            if each.op_type == PARAMETER and known is not None:
                whole, right = known
                for value in whole.values.values():
                    if value.shape == right.shape:
                        still = self._still(each.operator, value), self._still(each.operator, right)
                        yield min(distance(*still)[0], _MOST)

    def _moved_modules(self, step: Sequence[Execution]) -> None:
        """Notes what the parameters of each module are apart, where noise moves some of them."""
        for each in step:
            mask = self._moved.get(each.operator) if each.op_type == PARAMETER else None
            known = self._known.get((each.iteration, each.operator, "output.0"))
            if mask is not None and mask.any() and known is not None:
                whole, right = known
                apart = [distance(value, right)[0] for value in whole.values.values() if value.shape == right.shape]
                module = each.iteration, _owner(each.operator)
                self._own[module] = max([self._own.get(module, 0.0), *apart])

    def _look(self, execution: Execution, inherited: float) -> _Seen:
        seen = _Seen()
        for records, into in ((execution.inputs, seen.inputs), (execution.outputs, seen.outputs)):
            for record in records:
                whole = self.layout.whole(execution, record)
                expected = record.load()
                if whole is None or expected is None:
                    if execution.op_type in _HELD or execution.op_type in ("Module", "Result"):
                        left_out = self.layout.table.of(record)
                        why = _LEFT_OUT if left_out is not None else "no rank has it"
                        self._lacks(record, "its values were not kept" if expected is None else why)
                    continue
                if whole.why:
                    self._lacks(record, whole.why)
                    continue
                if execution.op_type not in _BOUNDARIES and (whole.inferred or not whole.chain):
                    self._lacks(record, _UNSAID)
                    continue
                right = np.asarray(expected)
                apart = max(inherited, self._own.get((execution.iteration - 1, _module(execution.operator)), 0.0))
                if apart > _MOST:
                    self._lacks(record, _MOVED)
                    continue
                if other := _misfit(whole, right):
                    slot = self._slot(execution, record, whole, right, apart)
                    if causes.of_rows(slot, tuple(whole.values)) is None:
                        self._lacks(record, other)
                        continue
                seen.compared += 1
                self.inferred += whole.inferred
                self._known[execution.iteration, execution.operator, record.key.slot_name] = whole, right
                if not self._holds(execution, record, whole, right, apart):
                    into.append((record, whole))
        return seen

    def _lacks(self, record: Record, why: str) -> None:
        self.why[why] += 1
        self.examples.setdefault(why, f"{record.key.operator} {record.key.slot_name}")

    def _holds(self, execution: Execution, record: Record, whole: Whole, expected: Array, inherited: float) -> bool:
        name, kind = execution.operator, execution.op_type
        before = self._known.get((execution.iteration - 1, name, record.key.slot_name))
        floor = 0.0
        if kind == GRADIENT:
            floor = self._largest.get((execution.iteration, _owner(name)), 0.0)
        for rank, value in whole.values.items():
            if value.shape != expected.shape:
                return False
            mine, right = (self._still(name, each) for each in (value, expected))
            if kind != PARAMETER or before is None or rank not in before[0].values:
                if not within(mine, right, inherited, floor):
                    return False
                continue
            then = before[0].values[rank], before[1]
            if any(each.shape != value.shape for each in then):
                return False
            was, should = (self._still(name, each) for each in then)
            if not updated((was, mine), (should, right), inherited):
                return False
        return True

    def _finding(self, execution: Execution, differs: tuple[Record, Whole], inherited: float) -> Finding:
        record, whole = differs
        expected = np.asarray(record.load())
        slot = self._slot(execution, record, whole, expected, inherited)
        told = causes.of_whole(slot)
        if told is None:
            ranks = tuple(rank for rank, each in whole.values.items() if not slot.fits(each, expected))
            ranks = self._holding(whole, expected) or ranks or tuple(whole.values)
            return Finding(ranks, execution, record.key.slot_name, None, "the run of one rank")
        return Finding(told[0], execution, record.key.slot_name, told[1], "the run of one rank")

    def _slot(
        self, execution: Execution, record: Record, whole: Whole, expected: Array, inherited: float
    ) -> causes.Slot:
        name = record.key.slot_name
        known = {
            iteration: self._known[iteration, execution.operator, name]
            for iteration in range(execution.iteration - 1, -1, -1)
            if (iteration, execution.operator, name) in self._known
        }
        last = next(iter(known.values()), None)
        given = self._known.get((execution.iteration, execution.operator, "input.0"))
        floor = 0.0
        if execution.op_type == GRADIENT:
            floor = self._largest.get((execution.iteration, _owner(execution.operator)), 0.0)
        return causes.Slot(
            whole, expected, inherited, floor, {at: each for at, (_, each) in known.items()},
            last[0].parts if last is not None else {}, (given[0].values, given[1]) if given is not None else None,
            execution.op_type, lambda group, value: self._reduced(execution.iteration, group, value),
        )  # fmt: skip

    def _reduced(self, iteration: int, group: tuple[int, ...], value: Array) -> bool | None:
        """See ``causes.Slot``."""
        declared = {each for chain in self.layout.table.chains for step in chain for each in step.groups}
        known = declared | {meeting.group for meeting in self.run.meetings}
        if any(len(each) > 1 and len({*each} & {*group}) == 1 for each in known):
            return False
        for meeting in self.run.meetings:
            if meeting.group == group:
                calls = (call.values() or () for call in meeting.calls.values() if call.iteration == iteration)
                if any(causes.is_multiple(made, value) for each in calls for made in each):
                    return True
        return False if self.run.meetings else None

    @staticmethod
    def _holding(whole: Whole, expected: Array) -> tuple[int, ...]:
        """The rank that holds the element that is farthest off, of one shard."""
        if len(whole.chain) != 1 or whole.chain[0].kind != "Shard" or not whole.parts:
            return ()
        value = next(iter(whole.values.values()))
        if value.shape != expected.shape:
            return ()
        apart = np.abs(value.astype(np.float64) - expected.astype(np.float64))
        axis = whole.chain[0].axis % expected.ndim
        at = int(np.unravel_index(int(apart.argmax()), apart.shape)[axis])
        for rank in whole.chain[0].group_of(min(whole.parts), sorted(whole.parts)):
            size = whole.parts[rank].shape[axis] if rank in whole.parts else 0
            if at < size:
                return (rank,)
            at -= size
        return ()


def _misfit(whole: Whole, expected: Array) -> str:
    """Why joined parts are not of the one rank's shape; empty if they are."""
    shapes = {value.shape for value in whole.values.values()} - {expected.shape}
    if not shapes:
        return ""
    made = list(shapes.pop())
    return f"its parts make {made}, the one rank has {list(expected.shape)}: nothing else says where they lie"


def _module(name: str) -> str:
    """The module of a call."""
    return name.rpartition("/")[0]


def _owner(name: str) -> str:
    """The module of a parameter or of its gradient."""
    return name.removesuffix(".grad").rpartition(".")[0]


def _steps(line: Sequence[Execution], is_weight: Callable[[Execution], bool]) -> Iterator[list[Execution]]:
    """The executions of each iteration: data and what a training begins with, calls and results in their order,
    gradients from the last module back, then parameters."""
    by_step: dict[int, list[Execution]] = {}
    for each in line:
        if each.op_type != "Settings":
            by_step.setdefault(each.iteration, []).append(each)
    for iteration in sorted(by_step):
        mine = by_step[iteration]
        gradients = [each for each in mine if each.op_type == GRADIENT]
        others = [each for each in mine if each.op_type not in _HELD]
        held = [each for each in mine if each.op_type == PARAMETER]
        given = [each for each in held if each.inputs or not is_weight(each)]
        yield [*given, *others, *reversed(gradients), *(each for each in held if each not in given)]


def _telling(findings: Sequence[Finding]) -> Finding:
    """The first finding; where that is a parameter, the first that says most: an optimizer's state tells more of a
    gradient than a weight, which only its sign may have moved."""
    first = findings[0]
    if first.execution.op_type != PARAMETER or first.slot.startswith("input"):
        return first  # where a step begins
    held = [each for each in findings if each.execution.op_type == PARAMETER and each.cause is not None]
    more = [each for each in held if each.cause is not None and each.cause.name != "replicated"]
    return next(iter([*more, *held]), first)


def _apart(findings: Sequence[Finding]) -> list[Finding]:
    """Further findings of other causes, of the same kind of operator: none that may come from the first."""
    first = findings[0]
    if first.execution.op_type not in _HELD:
        return []
    known = {(first.cause and first.cause.name, first.ranks)}
    made = []
    for each in findings[1:]:
        what = each.cause and each.cause.name, each.ranks
        if each.execution.op_type == first.execution.op_type and each.cause is not None and what not in known:
            known.add(what)
            made.append(each)
    return made
