"""Data flow of a run: which output, parameter or constant each input is.

Graphs say it where they were kept. Elsewhere an input is the last output of its step with equal contents, or the
parameter that has them; of a row of statistics, the last one with an equal row.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.inspect.run import Made, Op, Run, Slot


def link(run: Run) -> None:
    """Fills ``Op.makers`` of every execution."""
    reads: dict[tuple[int, str, int], str] = {}
    unsolved: list[tuple[Op, int]] = []
    before: dict[tuple[int, bytes], str] = {}
    for rank, iteration, ops in run.by_step():
        last: dict[tuple[int, str], Op] = {}
        contents: dict[bytes, tuple[Op, int]] = {}
        for op in ops:
            by_graph(run, op, last)
            for at, slot in op.inputs.items():
                if at in op.makers:
                    continue
                made = by_content(slot, rank, contents, before)
                if made is not None:
                    op.makers[at] = made
                    if made.parameter:
                        reads[rank, op.name, at] = made.parameter
                else:
                    unsolved.append((op, at))
            last[op.where.graph, op.name] = op
            for at, slot in op.outputs.items():
                if slot.content is not None:
                    contents[slot.content] = (op, at)
        before = contents_of_parameters(run, rank, iteration, before)
    for op, at in unsolved:
        name = reads.get((op.where.rank, op.name, at))
        if name is not None:
            op.makers[at] = Made(parameter=name)


def by_graph(run: Run, op: Op, last: dict[tuple[int, str], Op]) -> None:
    """The makers that the graph's text names."""
    statement = run.graphs.statement(op.where.graph, op.name)
    if statement is None:
        return
    for at, argument in enumerate(statement.arguments):
        if argument.producer is not None:
            maker = last.get((op.where.graph, argument.producer[0]))
            if maker is not None:
                op.makers[at] = Made(maker, argument.producer[1])
        elif argument.parameter is not None:
            op.makers[at] = Made(parameter=argument.parameter)
        elif argument.is_constant and not _is_data(run, op.inputs.get(at)):
            op.makers[at] = Made(constant=True)


def _is_data(run: Run, slot: Slot | None) -> bool:
    """Whether a constant may be data: PyTorch's graphs state as constants what no operator of the step made."""
    return run.backend == "torch" and not run.emulated and slot is not None and bool(slot.record.shape)


def forward_of(name: str) -> str | None:
    """The call whose gradient an entry of msprobe's is (``Functional.linear.1.backward``); None for other names."""
    before, found, behind = name.rpartition(".backward")
    return f"{before}.forward{behind}" if found and behind[:1] in ("", ".") else None


def by_content(
    slot: Slot, rank: int, contents: dict[bytes, tuple[Op, int]], before: dict[tuple[int, bytes], str]
) -> Made | None:
    """The maker of an input by what it holds."""
    if slot.content is None:
        return None
    if slot.content in contents:
        return Made(*contents[slot.content])
    name = before.get((rank, slot.content))
    return None if name is None else Made(parameter=name)


def contents_of_parameters(
    run: Run, rank: int, iteration: int, before: dict[tuple[int, bytes], str]
) -> dict[tuple[int, bytes], str]:
    """What the parameters hold after a step: the next step reads that."""
    kept = {key: name for key, name in before.items() if key[0] != rank}
    for (of, name), steps in run.parameters.items():
        slot = steps.get(iteration)
        if of == rank and slot is not None and slot.content is not None:
            kept.setdefault((rank, slot.content), name)
    return kept


def consumers(run: Run) -> dict[tuple[int, int], list[tuple[Op, int]]]:
    """The executions that read an output, with the input: by the maker's ``at`` and the output's number."""
    found: dict[tuple[int, int], list[tuple[Op, int]]] = {}
    for op in run.ops:
        for at, made in op.makers.items():
            if made.by is not None:
                found.setdefault((made.by.at, made.slot), []).append((op, at))
    return found


def upstream(op: Op, at: int, limit: int = 64) -> Iterator[Made]:
    """Who made input ``at``, through operators that only pass values on."""
    made = op.makers.get(at)
    for _ in range(limit):
        if made is None:
            return
        yield made
        if made.by is None or made.by.family != "view":
            return
        made = made.by.makers.get(0)


def parameter_read(op: Op, at: int) -> str:
    """The parameter that input ``at`` is, through views; empty if it is none."""
    return next((made.parameter for made in upstream(op, at) if made.parameter), "")


def maker(op: Op, at: int) -> Op | None:
    """The operator that computes input ``at``, behind views."""
    return next((made.by for made in upstream(op, at) if made.by is not None and made.by.family != "view"), None)


def log_softmax_of(op: Op) -> tuple[Op, int] | None:
    """Operator and input of the scores of which a difference is the logarithm of the softmax: scores less the
    logarithm of a sum of exponentials; None if it is something else."""
    if op.family != "sub":
        return None
    less = maker(op, 1)
    parts = [less] if less is not None and less.family != "add" else [maker(less, at) for at in (0, 1)] if less else []
    if not any(_log_of_sum(each) for each in parts):
        return None
    moved = maker(op, 0)
    shifted = moved is not None and moved.family == "sub" and (by := maker(moved, 1)) is not None and "Max" in by.kind
    return (moved, 0) if shifted and moved is not None else (op, 0)


def _log_of_sum(op: Op | None) -> bool:
    total = maker(op, 0) if op is not None and op.family == "log" else None
    inner = maker(total, 0) if total is not None and total.family == "sum" else None
    return inner is not None and inner.family == "exp"
