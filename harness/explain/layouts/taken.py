"""What MindSpore's graphs say of a step that a layout does not move: the gradients that optimizers take, and the
parameters that a step begins with."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import replace

from harness.explain.ranks.timeline import GRADIENT, PARAMETER, Execution, Run
from harness.explain.statements import Argument
from harness.records import Record

#: names of the inputs of optimizers' operators, as ``explain.names`` has them
_UPDATED = frozenset({"var", "variable", "parameters"})
_GRADIENTS = frozenset({"grad", "gradient", "delta"})


def with_taken(run: Run) -> Run:
    """A run with the gradients of its optimizers, named by their parameters (``fc.weight.grad``), and with what
    parameters are when an iteration first reads them, as their ``input.0``; as it is where no graph states them."""
    timeline = {}
    for rank, line in run.timeline.items():
        gradients, first = [*_gradients(run, line)], [*_first(run, line)]
        timeline[rank] = [*first, *line, *gradients]
    if all(len(timeline[rank]) == len(line) for rank, line in run.timeline.items()):
        return run
    found = copy.copy(run)
    found.timeline = timeline
    return found


def is_update(arguments: Sequence[Argument]) -> bool:
    """Whether an operator with these arguments updates its first."""
    return bool(arguments) and arguments[0].name in _UPDATED


def _gradients(run: Run, line: list[Execution]) -> Iterator[Execution]:
    for each in line:
        arguments = run.arguments(each.rank, each.place[0], each.operator) if each.inputs else ()
        names = [argument.name for argument in arguments]
        at = next((at for at, name in enumerate(names) if name in _GRADIENTS), None)
        if at is None or not is_update(arguments) or arguments[0].parameter is None:
            continue
        taken = next((record for record in each.inputs if record.key.slot == at), None)
        if taken is not None:
            yield _as(taken, each, f"{arguments[0].parameter}.grad", GRADIENT, "output")


def _first(run: Run, line: list[Execution]) -> Iterator[Execution]:
    """Of each weight, what its first reader in an iteration was given."""
    known = set()
    for each in line:
        for argument, record in _given(run, each):
            if (each.iteration, argument) not in known:
                known.add((each.iteration, argument))
                yield _as(record, each, argument, PARAMETER, "input")


def _given(run: Run, execution: Execution) -> Iterator[tuple[str, Record]]:
    """The weights that an operator reads, and their records; none of one that updates: it may show what it made."""
    slots = {record.key.slot: record for record in execution.inputs}
    arguments = run.arguments(execution.rank, execution.place[0], execution.operator)
    for at, argument in enumerate(() if is_update(arguments) else arguments):
        if argument.parameter is not None and not argument.is_data and at in slots:
            yield argument.parameter, slots[at]


def _as(record: Record, execution: Execution, name: str, kind: str, io: str) -> Execution:
    graph, iteration, _, number = execution.place
    key = record.key._replace(operator=name, io=io, slot=0)
    made = replace(record, key=key, op_type=kind)
    found = Execution(execution.rank, (graph, iteration, name, number), execution.at, kind, source=execution.source)
    (found.inputs if io == "input" else found.outputs).append(made)
    return found
