"""Which rank left its golden first, and how that reached the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial

from harness.compare.content import content
from harness.compare.ranks import rank_list
from harness.explain.ranks import causes
from harness.explain.ranks.aligned import Aligned
from harness.explain.ranks.finding import Cause, Finding, RanksReport, Spread, merged
from harness.explain.ranks.timeline import PARAMETER, Execution, Meeting, Run
from harness.records import Record
from harness.words import counted

#: whether two records of one slot agree
Same = Callable[[Record, Record], bool]


def equal_bits(golden: Record, found: Record) -> bool:
    """Whether two records have equal bits."""
    return content(golden) == content(found)


def beside(golden: Run, found: Run, same: Same = equal_bits) -> RanksReport:
    """What is known of ranks that left their golden.

    Args:
        golden, found: the same ranks of both.
        same: whether two records of one slot agree; by default if their bits are equal.
    """
    return _Beside(golden, found, same).report()


class _Beside:
    def __init__(self, golden: Run, found: Run, same: Same) -> None:
        self.golden, self.found, self.same = golden, found, same
        self.earliest: dict[int, Execution] = {}
        self.origins: list[Finding] = []
        self.aligned = {rank: Aligned(golden, found, rank) for rank in found.ranks}

    def mate(self, execution: Execution) -> Execution | None:
        """The golden's counterpart of an execution of the run."""
        return self.aligned[execution.rank].mate(execution)

    def report(self) -> RanksReport:
        report = RanksReport(tuple(self.found.ranks))
        for rank in self.found.ranks:
            report.compared += sum(len(each.outputs) + len(each.inputs) for each in self.found.timeline[rank])
            self._rank(rank)
        self.origins.sort(key=lambda each: self._when(each.execution))
        findings = merged(self.origins)
        report.first = findings[0] if findings else None
        report.others = [each for each in findings[1:] if self._stands_apart(each, findings[0])]
        report.earliest = self.earliest
        report.spread = list(self._spread())
        return report

    def agree(self, expected: Execution, execution: Execution, io: str) -> bool:
        """Whether the outputs, or the inputs with the arguments, of two executions agree."""
        if io == "output":
            return self._slots(expected.outputs, execution.outputs) == []
        return not self._slots(expected.inputs, execution.inputs) and not self._slots(expected.texts, execution.texts)

    def _slots(self, expected: list[Record], found: list[Record]) -> list[int]:
        """The slots that differ, by number in the list; the number of slots where the lists are not equally long."""
        differ = [at for at, (a, b) in enumerate(zip(expected, found, strict=False)) if not self.same(a, b)]
        return differ if len(expected) == len(found) else [*differ, min(len(expected), len(found))]

    def _when(self, execution: Execution) -> tuple[int, int, int]:
        run = self.found if self.found.placed.get(execution.rank, {}).get(execution.place) is execution else self.golden
        return run.when(execution)

    def _rank(self, rank: int) -> None:
        """Notes this rank's earliest difference, and where it left by itself."""
        structure = self._structure(rank)
        limit = self._when(structure.execution) if structure is not None else None
        tainted: set[bytes] = set()
        for execution in self.found.timeline[rank]:
            expected = self.mate(execution)
            if limit is not None and self.found.when(execution) >= limit:
                break
            if expected is None:
                continue
            finding = self._at(expected, execution, tainted)
            same = self.agree(expected, execution, "output") and self.agree(expected, execution, "input")
            if not same:
                self.earliest.setdefault(rank, execution)
                tainted.update(set(execution.made) - set(expected.made))
            if finding is not None:
                self.origins.append(finding)
                return
            if not same and rank in self.earliest and self._is_reached(execution, expected):
                return  # from here on the others' difference is in it
        if structure is not None:
            self.earliest.setdefault(rank, structure.execution)
            self.origins.append(structure)

    def _is_reached(self, execution: Execution, expected: Execution) -> bool:
        return bool(execution.kind) and not self.agree(expected, execution, "output")

    def _at(self, expected: Execution, execution: Execution, tainted: set[bytes]) -> Finding | None:
        """The finding at an execution, if this rank left there by itself."""
        reads = self.agree(expected, execution, "input")
        makes = self.agree(expected, execution, "output")
        rank = execution.rank
        if reads and makes:
            return None
        if not reads:
            other = self._slots(expected.inputs, execution.inputs)
            if not other:
                return Finding((rank,), execution, "", self._arguments(expected, execution))
            fresh = [at for at in other if at < len(execution.read) and execution.read[at] not in tainted]
            called = self._called_otherwise(execution) if other and execution.kind else None
            if called is not None:
                return called
            if fresh and not self.found.held(execution):
                return Finding((rank,), execution, f"input.{fresh[0]}", self._outside(expected, execution, fresh))
            if makes or not execution.kind:
                return None
        if execution.kind:
            return self._met(expected, execution)
        if self.found.held(execution):
            return None if execution.op_type != PARAMETER else self._parameter(execution, tainted)
        values = expected.values()
        cause = values and causes.of_bits(execution, values, "of the golden")
        cause = cause or causes.of_age(self.found, execution)
        cause = cause or causes.of_seed(self.golden, expected, execution)
        return Finding((rank,), execution, self._slot(expected, execution), cause or None, "the golden")

    def _arguments(self, expected: Execution, execution: Execution) -> Cause | None:
        changed = causes.of_arguments(expected, execution)
        if not changed:
            return None
        name = "setting"
        if execution.kind:
            name = "group" if changed[0][0] == "group" else "reduction"
            if changed[0] in (("reduce_op", "SUM", "AVG"), ("reduce_op", "AVG", "SUM")):
                name = "mean-for-sum" if changed[0][2] == "AVG" else "sum-for-mean"
        told = ", ".join(f"{each} {a} -> {b}" for each, a, b in changed)
        return Cause(name, f"it is called with {told}", "its arguments were compared with the golden's")

    def _outside(self, expected: Execution, execution: Execution, slots: list[int]) -> Cause | None:
        """Why data that no operator of this rank made differ."""
        rank, at = execution.rank, slots[0]
        seeded = causes.of_seed_input(expected, execution, slots)
        if seeded is not None:
            return seeded
        alike = [r for r in self.golden.ranks if _read(self.golden, r, expected, at) == expected.read[at]]
        now = [r for r in alike if _read(self.found, r, execution, at) == expected.read[at]]
        known = causes.of_data(self.golden, expected, execution, slots)
        if known is not None:
            return known
        if len(alike) > 1 and rank in alike and now:
            return Cause(
                "replicated", f"it has other values than ranks {rank_list(now)}, with which it should agree",
                f"input.{at} is equal on ranks {rank_list(alike)} of the golden, and on {rank_list(now)} here",
            )  # fmt: skip
        if execution.shapes != expected.shapes:
            shapes = [list(each.shapes[at][1]) for each in (expected, execution)]
            return Cause("shape", f"its data have another shape, {shapes[0]} -> {shapes[1]}", "shapes were compared")
        return Cause("data", "it reads other data", f"input.{at} is of no operator before, and not the golden's")

    def _met(self, expected: Execution, execution: Execution) -> Finding | None:
        """A collective: this rank left there only if all that its group gave is the golden's."""
        meeting = self.found.meeting_of.get(id(execution))
        if meeting is None:
            return None if execution.kind == "recv" else Finding((execution.rank,), execution)
        before = {rank: self.mate(call) for rank, call in meeting.calls.items()}
        agreeing = all(
            other is not None and self.agree(other, meeting.calls[rank], "input") for rank, other in before.items()
        )
        values = expected.values()
        cause = causes.of_collective(self.found, meeting, execution) if meeting.known else None
        if agreeing and cause is None and values:
            cause = causes.of_bits(execution, values, "of the golden") or causes.of_age(self.found, execution)
        if not agreeing and (cause is None or cause.name not in ("bit-flip", "stale", "not-reduced", "group")):
            return None
        return Finding((execution.rank,), execution, self._slot(expected, execution), cause, "the golden")

    def _parameter(self, execution: Execution, tainted: set[bytes]) -> Finding | None:
        """A parameter that no operator wrote so."""
        written = {each for line in self.found.timeline[execution.rank][: execution.at] for each in line.made}
        if not execution.made or execution.made[0] in tainted or execution.made[0] in written:
            return None
        return Finding((execution.rank,), execution, "output.0")

    def _slot(self, expected: Execution, execution: Execution) -> str:
        return next((f"output.{at}" for at in self._slots(expected.outputs, execution.outputs)), "")

    def _structure(self, rank: int) -> Finding | None:
        """The first call that the golden has and this rank has not, or the other way round."""
        gone, came = self.aligned[rank].gone, self.aligned[rank].came
        if not gone and not came:
            return None
        first = min([*gone[:1], *came[:1]], key=self._when)
        more = f" and {counted(len(gone) + len(came) - 1, 'operator')} more" if len(gone) + len(came) > 1 else ""
        lost = [each for each in gone if each.kind and each.kind != "barrier"]
        if lost and not any(each.kind for each in came):
            text = f"it does not call {lost[0].operator}"
            if first is not lost[0]:
                text = f"it does not run {first.operator}{more}, the collective {lost[0].operator} among them"
            return Finding((rank,), first, "", Cause("missing-collective", text, "the golden has it on this rank"))
        text, word = f"it does not run {first.operator}{more}", "the golden has it on this rank"
        if gone and came:
            text = f"it runs other operators from {first.operator} on"
        elif came:
            text = f"it runs {first.operator}{more}, which the golden does not run"
        if first not in gone:
            word = "the golden has no such call on this rank"
        return Finding((rank,), first, "", Cause("structure", text, word))

    def _called_otherwise(self, execution: Execution) -> Finding | None:
        """Collectives of one step that a rank calls in another order, or one of which it leaves out."""
        rank, step = execution.rank, execution.place[:2]
        a, b = (
            [each for each in run.timeline[rank] if each.kind and each.place[:2] == step]
            for run in (self.golden, self.found)
        )
        calls = [[(each.kind, each.read) for each in line] for line in (a, b)]
        at = next((at for at, (x, y) in enumerate(zip(*calls, strict=False)) if x != y), len(calls[1]))
        if _is_another_order(calls[0][at:], calls[1][at:]):
            text = "it calls its collectives in another order"
            return Finding((rank,), b[at], "", Cause("order", text, "their inputs are the golden's, in another order"))
        if len(calls[0]) > len(calls[1]) and calls[0][at + 1 : at + 2] == calls[1][at : at + 1]:
            text = f"it does not call {a[at].operator}"
            told = "what it calls there is what the golden calls after it"
            return Finding((rank,), a[at], "", Cause("missing-collective", text, told))
        return None

    def _stands_apart(self, finding: Finding, first: Finding) -> bool:
        """Whether a finding cannot come from the first: it lies before the first collective after that."""
        return finding.execution.iteration == first.execution.iteration and (
            self._when(finding.execution)[1] <= self._when(first.execution)[1]
        )

    def _spread(self) -> Iterator[Spread]:
        """Collectives that brought a difference to ranks that had none, in order."""
        differ: set[int] = set()
        begins = {rank: self._when(each) for rank, each in self.earliest.items()}
        own = {rank for each in self.origins[:1] for rank in each.ranks}
        for meeting in sorted(self.found.meetings, key=partial(_first_call, self.found)):
            sources, reached = self._carried(meeting)
            fresh = tuple(rank for rank in reached if rank not in differ and rank not in own)
            if sources and fresh and all(rank in begins for rank in fresh):
                yield Spread(meeting.calls[fresh[0]], sources, fresh)
            differ.update(reached)

    def _carried(self, meeting: Meeting) -> tuple[tuple[int, ...], tuple[int, ...]]:
        sources, reached = [], []
        for rank, call in sorted(meeting.calls.items()):
            other = self.mate(call)
            if other is not None and not self.agree(other, call, "input"):
                sources.append(rank)
            if other is not None and not self.agree(other, call, "output"):
                reached.append(rank)
        return tuple(sources), tuple(reached)


def _is_another_order(there: list[tuple[str, tuple[bytes, ...]]], here: list[tuple[str, tuple[bytes, ...]]]) -> bool:
    """Whether two lists begin with the same calls in another order, however many."""
    apart: Counter[tuple[str, tuple[bytes, ...]]] = Counter()
    for one, other in zip(there, here, strict=False):
        apart[one] += 1
        apart[other] -= 1
        if not any(apart.values()):
            return len(there) == len(here)
    return False


def _first_call(run: Run, meeting: Meeting) -> tuple[int, int, int]:
    return min(run.when(call) for call in meeting.calls.values())


def _read(run: Run, rank: int, execution: Execution, at: int) -> bytes | None:
    there = run.placed.get(rank, {}).get(execution.place)
    return there.read[at] if there is not None and at < len(there.read) else None
