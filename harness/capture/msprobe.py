"""Dumps in msprobe's layout, ours or msprobe's: ``step{n}/rank{r}/dump.json`` with tensors beside it.

Entries of ours say which operator they are of; an entry of msprobe's own (a cell, a module or an API) is an operator of
that name. Dumps of PyTorch are read likewise.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from harness import dtypes
from harness.capture.capture import COMPARED, Capture, Problem, in_turn
from harness.capture.msprobe_entries import Leaf, argument, parts
from harness.capture.msprobe_facts import row_of, stated
from harness.capture.msprobe_json import Cut, JsonEntries
from harness.capture.msprobe_steps import LEFT_OUT, Step, StepDirectory, StepsOfRank, json_object, step_directories
from harness.capture.msprobe_values import Left, give_values
from harness.capture.names import LARGEST
from harness.capture.normalise import source_of
from harness.capture.values import FileValues
from harness.dump.asynchronous.layout import MARK
from harness.dump.msprobe.step_files import CONSTRUCT, OPERATOR, STACK
from harness.errors import DtypeError, TreeError
from harness.graph import SourceLine
from harness.records import Record, RecordExtra, SlotKey
from harness.stats.printed import printed_statistics, row_digest

_LINE = re.compile(r"File (.*), line (\d{1,9}),")
_NETWORK = "Net"
_UNREADABLE = "\0unreadable"  # no name of msprobe's
#: What wrote a dump, by the ``framework`` that it states.
_BACKENDS = {"pytorch": "torch"}
WRITER = "msprobe"
"""Names the writer in ``Capture.rules``."""


class _Records:
    """The records of one step of one rank.

    Args:
        problems: receives what is left out.
        entries: the step's file, if it was opened already.
        alone: whether this is the only step, so that damage to it is an error.
        torch: whether PyTorch wrote it.
    """

    def __init__(
        self,
        where: StepDirectory,
        root: str,
        rootdir: str,
        problems: list[Problem],
        entries: JsonEntries | None,
        alone: bool,
        torch: bool,
    ) -> None:
        self._where = where
        self._root = root
        self._rootdir = rootdir
        self._problems = problems
        self._entries = entries
        self._alone = alone
        self._format = dtypes.TORCH_FORMAT if torch else "DefaultFormat"
        self._executions: Counter[tuple[int, str]] = Counter()
        self._empty = 0
        self._lines: list[str] = []
        self._whole = False
        self._stated: bytes | None = None

    def __iter__(self) -> Iterator[Record]:
        self._begin()
        for key, entry, source in self._read():
            if not isinstance(entry, (dict, list)):
                self._problem(key, "damaged", "the entry is not an object")
                continue
            for record in self._entry(key, entry, source):
                yield record
                if isinstance(record.values, FileValues):
                    record.values.forget()
        if self._whole:
            self._finish()

    def _read(self) -> Iterator[tuple[str, Any, str | None]]:
        """The entries and their source lines; a damaged file is a problem, or an error if it is the only one."""
        entries, self._entries = self._entries, None
        count = 0
        try:
            entries = entries or self._where.entries()
            sources = self._sources()
            for count, (key, entry) in enumerate(entries, 1):  # noqa: B007 (counts what was read)
                yield key, entry, sources.get(key)
        except TreeError as error:
            if self._alone:
                raise
            left_out = "" if isinstance(error, Cut) and count else LEFT_OUT
            self._problem(self._where.file, "incomplete", f"{left_out}{error}")
            return
        self._whole = True

    def _begin(self) -> None:
        self._executions.clear()
        self._empty, self._lines, self._whole = 0, [], False

    def _finish(self) -> None:
        if self._empty:
            why = f"of {self._empty} tensors it states dtype and shape alone: nothing else of them is compared"
            self._problem(self._where.file, "skipped", why)
        lines, self._lines = self._lines, []
        parents = self._parents()
        for at, line in enumerate(lines):
            if parent := parents.pop(line, None):
                lines[at] = f"{line} in {parent}"
        lines += [f"{key} in {parent}" if parent else key for key, parent in parents.items()]
        self._stated = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass")

    def stated(self) -> bytes:
        """The entries in their order, each with its caller, and below it what it states beside values: a line each."""
        if self._stated is None:
            noted = list(self._problems)
            try:
                for _ in self:
                    pass
            except TreeError:
                self._stated = b""
            self._problems[:] = noted
        return self._stated or b""

    def _entry(self, key: str, entry: dict[str, Any] | list[Any], source: str | None) -> Iterator[Record]:
        said = entry.get(OPERATOR) if isinstance(entry, dict) else None
        facts: dict[str, Any] = said if isinstance(said, dict) else {}
        name, op_type = facts.get("name", key), facts.get("type", type_of(key))
        graph = facts.get("graph", 0)
        if not (isinstance(name, str) and isinstance(op_type, str) and type(graph) is int and 0 <= graph <= LARGEST):
            self._problem(key, "damaged", f"{OPERATOR} says no name, type and graph")
            return
        beside = [key]
        for part in parts(entry):
            operator = name + part.suffix
            execution = self._executions[graph, operator]
            self._executions[graph, operator] += 1
            for leaf in part.leaves:
                slot = SlotKey(self._where.rank, graph, self._where.step, operator, execution, leaf.io, leaf.slot)
                if not leaf.tensor:
                    record: Record | None = _argument(slot, part.op_type or op_type, leaf)
                else:
                    record = self._record(key, slot, part, part.op_type or op_type, leaf.said)
                    if facts_of_it := stated(leaf.said):
                        beside.append(f"{key}{part.suffix}.{leaf.io}.{leaf.slot} {facts_of_it}")
                if record is not None:
                    record.source = source
                    if facts:
                        _say_kernel(record.extra, facts)
                    yield record
        if isinstance(entry, dict) and "is_nan" in entry:
            beside.append(f"{key} is_nan={entry['is_nan']}")
        self._lines += beside

    def _record(self, entry: str, key: SlotKey, part: Any, op_type: str, said: Mapping[str, Any]) -> Record | None:
        shape, named = said.get("shape"), said.get("dtype")
        why = ""
        if not isinstance(shape, list) or not all(type(size) is int and 0 <= size < 2**63 for size in shape):
            why = f"its shape is {str(shape)[:80]}"
        elif not isinstance(named, str):
            why = f"its dtype is {str(named)[:80]}"
        else:
            try:
                dtype = dtypes.by_name(named)
            except DtypeError as error:
                why = str(error)
        if why:
            self._problem(f"{entry}{part.suffix}.{key.io}.{key.slot}", "damaged", why)
            return None
        assert isinstance(shape, list)
        shown = said.get("format")
        record = Record(key, op_type, dtype.name, tuple(shape), shown if isinstance(shown, str) else self._format)
        row = row_of(said, dtype, record.shape)
        if "data_name" in said:
            try:
                give_values(record, dtype, said["data_name"], self._where, self._root)
                return record
            except Left as left:
                self._problem(left.name, left.kind, left.why)
            if not row:
                return None
        elif not row and 0 not in record.shape:
            self._empty += 1
        record.extra.row = row
        record.digest = row_digest(dtype.name, record.shape, row)
        try:
            record.extra.statistics = printed_statistics(row)
        except (KeyError, ValueError, OverflowError):
            record.extra.statistics = row
        return record

    def _sources(self) -> dict[str, str | None]:
        """Source line of each entry."""
        path = os.path.join(self._where.path, STACK)
        if not os.path.isfile(path):
            return {}
        found: dict[str, str | None] = {}
        for key, value in json_object(path, self._root).items():
            if isinstance(value, list):
                # In older releases the lines of each entry stand below its name.
                shared = len(value) == 2 and all(isinstance(each, list) for each in value)
                names, lines = value if shared else ([key], value)
                source = source_of(_frames(lines), self._rootdir)
                found.update((name, source) for name in names if isinstance(name, str))
        return found

    def _parents(self) -> dict[str, str | None]:
        """The module or cell that each entry was called by, in the order in which they began."""
        path = os.path.join(self._where.path, CONSTRUCT)
        if not os.path.isfile(path):
            return {}
        try:
            found = json_object(path, self._root)
        except TreeError as error:
            self._problem(CONSTRUCT, "damaged", str(error))
            return {}
        # A list is of a checkpointed region: the parent is its first item.
        plain = {key: value[0] if isinstance(value, list) and value else value for key, value in found.items()}
        return {key: value if isinstance(value, str) else None for key, value in plain.items()}

    def _problem(self, what: str, kind: str, why: str) -> None:
        path = os.path.relpath(os.path.join(self._where.path, what), self._root)
        self._problems.append(Problem(path, kind, why))


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


def _argument(key: SlotKey, op_type: str, leaf: Leaf) -> Record:
    """The record of an argument that is no tensor."""
    dtype, array = argument(leaf.said)
    extra = RecordExtra(named=leaf.name or None)
    return Record(key, op_type, dtype, array.shape, dtypes.ARGUMENT_FORMAT, array, extra=extra)


def _say_kernel(extra: RecordExtra, facts: Mapping[str, Any]) -> None:
    """Adds what our entries say about where the operator ran, and which operators it was fused from."""
    stream, task, alone, members = (facts.get(name) for name in ("stream", "task", "alone", "members"))
    extra.stream = stream if type(stream) is int else None
    extra.task = task if type(task) is int else None
    extra.alone = alone if isinstance(alone, str) else None
    if isinstance(members, list) and all(isinstance(each, str) for each in members):
        extra.members = tuple(members)


def type_of(key: str) -> str:
    """``conv2d`` of ``Functional.conv2d.0.forward``, ``Dense`` of ``Cell.fc1.Dense.forward.0``, ``mm`` of
    ``Aten.mm.default.0.forward``."""
    parts_of_it = [part for part in key.split(".") if part not in ("forward", "backward") and not part.isdecimal()]
    if parts_of_it[:1] == ["Aten"] and len(parts_of_it) > 1:
        return parts_of_it[1]
    return parts_of_it[-1] if parts_of_it else key


def _frames(lines: list[Any]) -> list[SourceLine]:
    """Lines of a stack, outermost call first."""
    found = [_LINE.match(line) for line in lines if isinstance(line, str)]
    return [SourceLine(m[1], int(m[2]), int(m[2]), None, None, "") for m in reversed(found) if m is not None]


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
    alone, torch = len(wanted) == 1 and not one_of_several, head.get("framework") == "pytorch"
    sources = [
        _Records(each, root, base, problems, entries if each is first else None, alone, torch) for each in wanted
    ]
    by_rank: dict[int, list[Step]] = {}
    for each, source in zip(wanted, sources, strict=True):
        by_rank.setdefault(each.rank, []).append(Step(each.step, each.path, source))
    emulated, rules = bool(head.get(MARK)), head.get("rules")
    return Capture(
        _NETWORK,
        backend or _backend(head),
        emulated,
        in_turn(sources, problems),
        "statistic" if head.get("task") in ("statistics", "structure") else "tensor",
        rules=rules if isinstance(rules, dict) else {} if emulated else {"written_by": WRITER},
        artefacts={} if emulated else _texts(wanted, sources),
        problems=problems,
        sources=[StepsOfRank(steps, number) for number, steps in by_rank.items()],
        unreadable=head.get(_UNREADABLE, ""),
        unranked=len(ranks) == 1 and not any(each.ranked for each in wanted),
    )


def _backend(head: Mapping[str, Any]) -> str:
    """What made a dump with this head."""
    device = head.get("device")
    if head.get(MARK) and isinstance(device, str):
        return device
    return _BACKENDS.get(str(head.get("framework")), "mindspore")


def _texts(steps: list[StepDirectory], sources: list[_Records]) -> Mapping[str, bytes]:
    """What each step states beside values, by the names of artefacts."""
    return _Texts({
        f"{COMPARED}stated_rank_{step.rank}_step_{step.step}": source.stated
        for step, source in zip(steps, sources, strict=True)
    })  # fmt: skip


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
