"""Dumps in msprobe's layout, ours or msprobe's: ``step{n}/rank{r}/dump.json`` with tensors beside it.

Entries of ours say which operator they are of; an entry of msprobe's own (a cell, a module or an API) is an operator of
that name. Dumps of PyTorch are read likewise.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from harness.attributes import checked_rules
from harness.capture.capture import COMPARED, Capture, Problem, in_turn
from harness.capture.msprobe_json import JsonEntries
from harness.capture.msprobe_step import StepRecords
from harness.capture.msprobe_steps import MODES, Step, StepDirectory, StepsOfRank, step_directories
from harness.dump.asynchronous.layout import ENGINE, MARK
from harness.errors import TreeError
from harness.records import Record

_NETWORK = "Net"
_UNREADABLE = "\0unreadable"  # no name of msprobe's
#: What wrote a dump, by the ``framework`` that it states.
_BACKENDS = {"pytorch": "torch"}
WRITER = "msprobe"
"""Names the writer in ``Capture.rules``."""


class _Texts(Mapping[str, bytes]):
    """Texts that are made when they are asked for."""

    def __init__(self, made: Mapping[str, Callable[[], bytes]]) -> None:
        self._made = made

    def __getitem__(self, name: str) -> bytes:
        return self._made[name]()

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)


def read_msprobe(
    path: str,
    rank: int | None = None,
    *,
    backend: str | None = None,
    rootdir: str | None = None,
    one_of_several: bool = False,
) -> Capture | None:
    """Reads such a dump; None if ``path`` is not one.

    Args:
        path: the ``dump_path``, the directory of one step or of one rank of it, or a ``dump.json`` itself.
        rank: read this rank only; every rank by default.
        backend: name of the backend; by default ``ascend-o2`` for a dump the harness wrote, ``torch`` for one of
            PyTorch, else ``mindspore``.
        rootdir: source paths are given relative to it; the current directory by default.
        one_of_several: see ``read_tree``.

    Raises:
        TreeError: the dump lacks the rank, a ``dump.json`` is damaged, or a link leaves the dump.
    """
    problems: list[Problem] = []
    found = step_directories(path, problems)
    if not found:
        return None
    ranks = sorted({each.rank for each in found})
    if rank is not None and rank not in ranks:
        raise TreeError(f"{path}: no rank {rank} in it; it holds {', '.join(map(str, ranks))}")
    wanted = [each for each in found if rank in (None, each.rank)]
    first, entries, head = _head(wanted, one_of_several)
    root, base = wanted[0].root, os.path.abspath(rootdir or os.getcwd())
    alone = len(wanted) == 1 and not one_of_several
    sources = [
        StepRecords(each, root, base, problems, entries if each is first else None, alone, head) for each in wanted
    ]
    emulated, engine = bool(head.get(MARK)), _engine(head)
    ours = emulated or bool(engine)
    stated = head.get("task") in ("statistics", "structure")
    return Capture(
        _NETWORK,
        backend or _backend(head),
        emulated,
        in_turn(sources, problems),
        "statistic" if stated else "tensor",
        rules=_rules(head, wanted[0].path),
        artefacts={} if ours else _texts(wanted, sources),
        problems=problems,
        sources=_by_rank(wanted, sources),
        unreadable=head.get(_UNREADABLE, ""),
        execution=_finder(sources),
        stated=stated,
        unranked=len(ranks) == 1 and not any(each.ranked for each in wanted),
    )


def _by_rank(wanted: list[StepDirectory], sources: list[StepRecords]) -> list[StepsOfRank]:
    """Each rank with its steps."""
    by_rank: dict[int, list[Step]] = {}
    for each, source in zip(wanted, sources, strict=True):
        by_rank.setdefault(each.rank, []).append(Step(each.step, each.path, source))
    return [StepsOfRank(steps, number) for number, steps in by_rank.items()]


def _finder(sources: list[StepRecords]) -> Callable[[tuple[int, int, int, str, int]], list[Record] | None]:
    """Finds the records of one execution in the step that has it."""

    def found(where: tuple[int, int, int, str, int]) -> list[Record] | None:
        return next((records for each in sources if (records := each.execution(where)) is not None), None)

    return found


def _backend(head: Mapping[str, Any]) -> str:
    """What made a dump with this head."""
    device = head.get("device")
    if engine := _engine(head):
        return engine[ENGINE].partition(" ")[0]
    if head.get(MARK) and isinstance(device, str):
        return device
    return _BACKENDS.get(str(head.get("framework")), "mindspore")


def _rules(head: Mapping[str, Any], path: str) -> dict[str, Any]:
    """What a dump with this head, read at ``path``, says of its values; ``TreeError`` for rules of other types."""
    if "rules" in head:
        return checked_rules(head["rules"], lambda told: TreeError(f"{path}: dump.json: {told}"))
    return _engine(head) or ({} if head.get(MARK) else {"written_by": WRITER})


def _engine(head: Mapping[str, Any]) -> dict[str, str]:
    """Who ran it, where another runtime than the harness's own wrote the dump with our writer."""
    engine = head.get(ENGINE)
    return {ENGINE: engine} if isinstance(engine, str) and engine.strip() else {}


def _texts(steps: list[StepDirectory], sources: list[StepRecords]) -> Mapping[str, bytes]:
    """What each step states beside values, by the names of artefacts."""
    return _Texts({
        f"{COMPARED}stated{_mode(step)}_rank_{step.rank}_step_{step.step}": source.stated
        for step, source in zip(steps, sources, strict=True)
    })  # fmt: skip


def _mode(step: StepDirectory) -> str:
    """``_graph`` or ``_pynative`` of a step in a directory of that name; else empty."""
    words = os.path.relpath(step.path, step.root).split(os.sep)
    return f"_{words[0]}" if words[0] in MODES else ""


def _head(steps: list[StepDirectory], lenient: bool) -> tuple[StepDirectory | None, JsonEntries | None, dict[str, Any]]:
    """The first readable step, its file and its head; ``TreeError`` if there is none, or why, if lenient."""
    problem: TreeError | None = None
    for step in steps:
        try:
            entries = step.entries()
            next(iter(entries), None)
        except TreeError as error:
            problem = problem or error
        else:
            return step, entries, entries.head
    assert problem is not None  # there is a step
    if lenient:
        return None, None, {_UNREADABLE: str(problem)}
    raise problem
