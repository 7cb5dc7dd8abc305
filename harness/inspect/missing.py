"""What a run lacks, so that no rule could look at it: steps, slots of steps, results, other ranks."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator, Mapping, Sequence

from harness.capture import Capture
from harness.capture.tree_records import RankRecords
from harness.inspect.run import Op, Run
from harness.words import counted

_RANK = re.compile(r"rank_[0-9]{1,9}")
#: rank, graph
_Place = tuple[int, int]
#: operator or parameter, execution, input or output, slot
_Slot = tuple[str, int, str, int]


def what_is_missing(run: Run, iterations: Sequence[int], complete: bool = True) -> list[str]:
    """A line for each kind of thing that is missing.

    Args:
        run: the run.
        iterations: labels of its steps.
        complete: whether all of its steps were read.
    """
    if not run.slots:
        return ["nothing was recorded: the run holds no tensor and no statistics"]
    lines = []
    if len(iterations) == 1:
        lines.append("one step: whatever changes from step to step (updates, losses, growth) is not looked at")
    if not run.trained:
        lines.append("forward alone: gradients and updates were not recorded")
    last = run.ops[-1] if run.ops else None
    if last is not None and last.inputs and not any(last.results) and len(run.ops) == 1:
        lines.append(
            f"{last.name} alone, and nothing of its result: an exception dump keeps what the failed kernel read"
        )
        return lines
    if complete:
        lines += _steps(run)
    if not run.flags():  # an overflow dump holds the kernels that overflowed alone
        lines += _slots(run)
    return [*lines, *_halves(run), *_alone(run)]


def _steps(run: Run) -> Iterator[str]:
    """Labels that lie between others, or that another rank has; a step of every tenth is no gap."""
    every = {label for labels in run.iterations.values() for label in labels}
    for rank, labels in run.iterations.items():
        known = sorted(labels)
        apart = {after - before for before, after in itertools.pairwise(known)}
        between = set(range(known[0], known[-1])) if len(apart) > 1 and known[-1] - known[0] < 1 << 20 else set()
        lacking = sorted((between | every) - set(known))
        if lacking:
            of = f" of rank {rank}" if len(run.iterations) > 1 else ""
            yield f"{counted(len(lacking), 'step')}{of} {_are(lacking)} not there, the first is {lacking[0]}"


def left_nothing(run: Run, capture: Capture) -> Iterator[str]:
    """Directories and tables without a tensor, and ranks of the tree that were not read."""
    yield from (f"{each.path}: {each.why}" for each in capture.problems if each.kind == "empty")
    sources = [each for each in capture.sources if isinstance(each, RankRecords)]
    beside: set[int] = set()
    for source in sources:
        read = run.iterations.get(source.rank, ())
        empty = [path for _, step, path in source.parts() if step not in read and not os.listdir(path)]
        if empty:
            where = os.path.relpath(empty[0], source.root)
            yield f"rank {source.rank}: {counted(len(empty), 'step')} left an empty directory, the first is {where}"
        above, own = os.path.split(source.root)
        names = os.listdir(above) if _RANK.fullmatch(own) else []
        beside |= {int(each[5:]) for each in names if _RANK.fullmatch(each)}
    for rank in sorted(beside - set(run.iterations))[:3]:
        yield f"rank {rank} lies beside and is not looked at: it was not asked for, or holds no tensor"


def _are(found: Sequence[object]) -> str:
    return "is" if len(found) == 1 else "are"


def _slots(run: Run) -> Iterator[str]:
    """Slots that some steps of a graph have and others do not."""
    ops: dict[_Place, dict[int, list[Op]]] = {}
    for op in run.ops:
        ops.setdefault((op.where.rank, op.where.graph), {}).setdefault(op.where.iteration, []).append(op)
    for steps in ops.values():
        sizes = {step: sum(map(_size, each)) for step, each in steps.items()}
        fullest = max(sizes, key=lambda step: sizes[step])
        if len(set(sizes.values())) > 1:
            yield from _lacking(set(_named(steps[fullest])), steps)
    for (rank, name), kept in {**run.parameters, **run.gradients}.items():
        lacking = [step for step in run.iterations.get(rank, []) if step not in kept]
        if lacking and len(kept) >= len(lacking):
            yield f"{name} is not there after step {lacking[0]}, and is after others"
            return


def _named(ops: Sequence[Op]) -> Iterator[_Slot]:
    for op in ops:
        for io, slots in (("input", op.inputs), ("output", op.outputs), ("input", op.updated)):
            for at in slots:
                yield op.name, op.where.execution, io, at


def _size(op: Op) -> int:
    return len(op.inputs) + len(op.outputs) + len(op.updated)


def _lacking(whole: set[_Slot], steps: Mapping[int, Sequence[Op]]) -> Iterator[str]:
    """The first step that lacks slots."""
    for step, ops in steps.items():
        slots = whole.difference(_named(ops))
        if slots:
            name, _, io, at = min(slots)
            many = f"{counted(len(slots), 'slot')} of step {step} {_are(sorted(slots))} not there"
            yield f"{many} that another step has, such as {name} {io}.{at}"
            return


def _halves(run: Run) -> Iterator[str]:
    """Operators with inputs and no result, among others that have both; inputs that the graph names and nobody kept."""
    whole = any(op.inputs and any(op.results) for op in run.ops)
    bare = [op for op in run.ops if op.inputs and not any(op.results)] if whole else []
    if len(bare) == 1 and bare[0] is run.ops[-1]:
        yield f"the run ends in {bare[0].name}, whose result is not there: it failed, or the run was stopped"
    elif bare:
        yield f"{counted(len(bare), 'execution')} without any result {_are(bare)} there, the first of {bare[0].name}"
    if not whole:
        return
    unkept = [
        (op, at) for op in run.ops for at, made in op.makers.items()
        if op.inputs and not made.constant and at not in op.inputs and at not in op.updated
    ]  # fmt: skip
    if unkept:
        op, at = unkept[0]
        many = f"{counted(len(unkept), 'input')} that the graph names {_are(unkept)} not there"
        yield f"{many}, the first is {op.name} input.{at}"


def _alone(run: Run) -> Iterator[str]:
    """One rank of several."""
    joined = [op for op in run.ops if op.family == "collective"]
    if joined and len(run.iterations) == 1:
        yield (
            f"rank {joined[0].where.rank} alone: what other ranks gave to {counted(len(joined), 'collective')} "
            f"({joined[0].kind}) is not there"
        )
