"""Dumps in msprobe's layout, ours or msprobe's: ``step{n}/rank{r}/dump.json`` with tensors beside it.

Entries of ours say which operator they are of; an entry of msprobe's own (a cell or an API) is an operator of that
name. Real dumps of another framework are read likewise, where their tensors are ``.npy`` or statistics.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from harness import dtypes
from harness.capture import npy
from harness.capture.capture import Capture, Problem, in_turn
from harness.capture.msprobe_steps import LEFT_OUT, Step, StepDirectory, StepsOfRank, json_object, step_directories
from harness.capture.names import LARGEST
from harness.capture.narrowing import as_dtype
from harness.capture.normalise import source_of
from harness.capture.values import EAGER_BYTES, FileValues
from harness.dtypes import DType
from harness.dump.asynchronous.layout import MARK
from harness.dump.msprobe.entries import HALVES, KEYS
from harness.dump.msprobe.fields import SUMMARY_ITEMS
from harness.dump.msprobe.step_files import OPERATOR, STACK, TENSORS
from harness.dump.names import PARAMETER
from harness.errors import DtypeError, TreeError
from harness.graph import SourceLine
from harness.reading import refuse_outside
from harness.records import Record, RecordExtra, SlotKey
from harness.stats.printed import PrintedStatistics, printed_statistics, row_digest

_LINE = re.compile(r"File (.*), line (\d{1,9}),")
_NETWORK = "Net"
_UNREADABLE = "\0unreadable"  # no name of msprobe's
_INPUTS = ("input_args", "input_kwargs", "input")
_PARAMETERS = "parameters"
#: Fields that only a tensor's description has.
_OF_TENSORS = frozenset({"dtype", "shape", "data_name"})


class _Leaf(NamedTuple):
    """One tensor of an entry: ``io``, its position, and what ``dump.json`` says of it."""

    io: str
    slot: int
    said: Mapping[str, Any]


def _leaves(io: str, values: Any, start: int = 0) -> Iterator[_Leaf]:
    """The tensors of one of an entry's lists; each value that is not a tensor takes a position, too."""
    at = start
    stack = [values]
    while stack:
        value = stack.pop()
        if isinstance(value, list):
            stack.extend(reversed(value))
        elif isinstance(value, dict) and not _is_tensor(value) and not isinstance(value.get("type"), str):
            stack.extend(reversed(list(value.values())))
        else:
            if _is_tensor(value):
                yield _Leaf(io, at, value)
            at += 1


def _is_tensor(value: Any) -> bool:
    """Whether an entry's value describes a tensor, even a damaged one; named arguments may have the same keys."""
    if not isinstance(value, dict) or not ("type" in value or "data_name" in value):
        return False
    return not isinstance(value.get("type"), (dict, list)) and not _OF_TENSORS.isdisjoint(value)


class _Part(NamedTuple):
    """The tensors of an entry that belong to one operator: the suffix of the entry's name, and the type if it
    differs."""

    suffix: str
    op_type: str | None
    leaves: list[_Leaf]


def _parts(entry: Any) -> Iterator[_Part]:
    """An entry's own tensors, then those of parameters (level L0) and of their gradients, by their names.

    A variable of level debug is its entry.
    """
    if isinstance(entry, list) or _is_tensor(entry):
        entry = {"output": entry}
    inputs = [entry.get(field) for field in _INPUTS if entry.get(field)]
    yield _Part("", None, [*_leaves("input", inputs), *_leaves("output", entry.get("output"))])
    for field, values in entry.items():
        if field in (*_INPUTS, "output", OPERATOR) or not isinstance(values, (dict, list)):
            continue
        op_type = PARAMETER if field == _PARAMETERS else None
        named = values if isinstance(values, dict) and not _is_tensor(values) else {"": values}
        for name, value in named.items():
            yield _Part(f".{field}.{name}".rstrip("."), op_type, list(_leaves("output", value)))


class _Records:
    """The records of one step of one rank.

    Args:
        problems: receives what is left out.
        content: content of the step's file, if it was read already.
        alone: whether this is the only step, so that damage to it is an error.
    """

    def __init__(
        self,
        where: StepDirectory,
        root: str,
        rootdir: str,
        problems: list[Problem],
        content: dict[str, Any] | None,
        alone: bool,
    ) -> None:
        self._where = where
        self._root = root
        self._rootdir = rootdir
        self._problems = problems
        self._content = content
        self._alone = alone
        self._executions: Counter[tuple[int, str]] = Counter()

    def __iter__(self) -> Iterator[Record]:
        content, self._content = self._content, None
        try:
            data = (content or self._where.content())["data"]
            sources = self._sources()
        except TreeError as error:
            if self._alone:
                raise
            self._problem(self._where.file, "incomplete", f"{LEFT_OUT}{error}")
            return
        del content
        self._executions.clear()
        for key, entry in data.items():
            if isinstance(entry, (dict, list)):
                for record in self._entry(key, entry, sources.get(key)):
                    yield record
                    if isinstance(record.values, FileValues):
                        record.values.forget()
            else:
                self._problem(key, "damaged", "the entry is not an object")

    def _entry(self, key: str, entry: dict[str, Any] | list[Any], source: str | None) -> Iterator[Record]:
        said = entry.get(OPERATOR) if isinstance(entry, dict) else None
        facts: dict[str, Any] = said if isinstance(said, dict) else {}
        name, op_type = facts.get("name", key), facts.get("type", _type_of(key))
        graph = facts.get("graph", 0)
        if not (isinstance(name, str) and isinstance(op_type, str) and type(graph) is int and 0 <= graph <= LARGEST):
            self._problem(key, "damaged", f"{OPERATOR} says no name, type and graph")
            return
        for part in _parts(entry):
            operator = name + part.suffix
            execution = self._executions[graph, operator]
            self._executions[graph, operator] += 1
            for leaf in part.leaves:
                slot = SlotKey(self._where.rank, graph, self._where.step, operator, execution, leaf.io, leaf.slot)
                label = f"{key}{part.suffix}.{leaf.io}.{leaf.slot}"
                record = self._record(label, slot, part.op_type or op_type, leaf.said)
                if record is not None:
                    record.source = source
                    _say_kernel(record.extra, facts)
                    yield record

    def _record(self, label: str, key: SlotKey, op_type: str, said: Mapping[str, Any]) -> Record | None:
        shape, named = said.get("shape"), said.get("dtype")
        if not isinstance(shape, list) or not all(type(size) is int and 0 <= size < 2**63 for size in shape):
            self._problem(label, "damaged", f"its shape is {str(shape)[:80]}")
            return None
        if not isinstance(named, str):
            self._problem(label, "damaged", f"its dtype is {str(named)[:80]}")
            return None
        try:
            dtype = dtypes.by_name(named.removeprefix("torch."))
        except DtypeError as error:
            self._problem(label, "damaged", str(error))
            return None
        shape = tuple(shape)
        shown = said.get("format")
        record = Record(key, op_type, dtype.name, shape, shown if isinstance(shown, str) else "DefaultFormat")
        if "data_name" in said:
            return self._with_values(record, dtype, said["data_name"])
        row = _row(said, dtype, shape)
        record.extra.row = row
        check = said.get("md5")  # a CRC-32, which no other row has
        record.digest = row_digest(dtype.name, shape, row | ({"crc32": check} if isinstance(check, str) else {}))
        try:
            record.extra.statistics = printed_statistics(row)
        except (KeyError, ValueError, OverflowError):
            record.extra.statistics = row
        return record

    def _with_values(self, record: Record, dtype: DType, name: Any) -> Record | None:
        if not isinstance(name, str) or os.path.basename(name) != name or not name.endswith(".npy"):
            self._problem(str(name)[:255], "skipped", "no name of an .npy file")
            return None
        path = os.path.join(self._where.path, TENSORS, name)
        refuse_outside(path, self._root, TreeError)
        file = None
        try:
            file = npy.NpyFile(path, self._root)
            header, array = file.begin(limit=EAGER_BYTES)
            held = npy.dtype_named(header, dtype.name)
            if header.shape != record.shape:
                raise ValueError(f"its shape is {header.shape}, {self._where.file} says {record.shape}")
            hot = as_dtype(array, held) if array is not None else None
        except (npy.Incomplete, ValueError, OSError) as error:
            if file is not None:
                file.close()
            self._problem(name, "incomplete" if isinstance(error, npy.Incomplete) else "damaged", str(error))
            return None
        record.values = values = FileValues(path, dtype.name, record.shape, None, hot, self._root)
        if hot is None:
            values.opened = file
        else:
            file.close()
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

    def _problem(self, what: str, kind: str, why: str) -> None:
        path = os.path.relpath(os.path.join(self._where.path, what), self._root)
        self._problems.append(Problem(path, kind, why))


def _say_kernel(extra: RecordExtra, facts: Mapping[str, Any]) -> None:
    """Adds what our entries say about where the operator ran, and which operators it was fused from."""
    stream, task, alone, members = (facts.get(name) for name in ("stream", "task", "alone", "members"))
    extra.stream = stream if type(stream) is int else None
    extra.task = task if type(task) is int else None
    extra.alone = alone if isinstance(alone, str) else None
    if isinstance(members, list) and all(isinstance(each, str) for each in members):
        extra.members = tuple(members)


def _type_of(key: str) -> str:
    """``conv2d`` of ``Functional.conv2d.0.forward``, ``Dense`` of ``Cell.fc1.Dense.forward.0``."""
    parts = [part for part in key.split(".") if part not in ("forward", "backward") and not part.isdecimal()]
    return parts[-1] if parts else key


def _frames(lines: list[Any]) -> list[SourceLine]:
    """Lines of a stack, outermost call first."""
    found = [_LINE.match(line) for line in lines if isinstance(line, str)]
    return [SourceLine(m[1], int(m[2]), int(m[2]), None, None, "") for m in reversed(found) if m is not None]


def _row(said: Mapping[str, Any], dtype: DType, shape: tuple[int, ...]) -> PrintedStatistics:
    """The items with the same meaning as in a ``statistic.csv``, printed as there.

    Left out are items with another meaning: the norm of a 0-d tensor is its value, numbers of float16 and bfloat16 may
    be rounded, those of complex tensors refer to absolute values, and the md5 is a CRC-32.
    """
    texts: dict[str, str] = {}
    for item, named in SUMMARY_ITEMS.items():
        value = said.get(KEYS.get(item, item))
        rounded = item in ("mean", "l2norm") and (dtype in HALVES or not shape)
        if isinstance(value, (int, float)) and dtype.kind != "c" and not rounded:
            texts[named] = f"{value:g}" if item in KEYS and abs(value) < 2**1000 else str(value)
    return PrintedStatistics(texts, dtype.name)


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
        path: the ``dump_path``, or the directory of one step, or of one rank of it.
        rank: read this rank only; every rank by default.
        backend: name of the backend; by default ``ascend-o2`` for a dump the harness wrote, else ``mindspore``.
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
    first, head = _head(wanted, one_of_several)
    root, base = os.path.realpath(path), os.path.abspath(rootdir or os.getcwd())
    alone = len(wanted) == 1 and not one_of_several
    records = [_Records(each, root, base, problems, head if each is first else None, alone) for each in wanted]
    by_rank: dict[int, list[Step]] = {}
    for each, source in zip(wanted, records, strict=True):
        by_rank.setdefault(each.rank, []).append(Step(each.step, each.path, source))
    head = {name: value for name, value in head.items() if name != "data"}
    emulated = bool(head.get(MARK))
    device, rules = head.get("device"), head.get("rules")
    return Capture(
        _NETWORK,
        backend or (device if emulated and isinstance(device, str) else "mindspore"),
        emulated,
        in_turn(records, problems),
        "statistic" if head.get("task") == "statistics" else "tensor",
        rules=rules if isinstance(rules, dict) else {},
        problems=problems,
        sources=[StepsOfRank(steps) for steps in by_rank.values()],
        unreadable=head.get(_UNREADABLE, ""),
    )


def _head(steps: list[StepDirectory], lenient: bool) -> tuple[StepDirectory | None, dict[str, Any]]:
    """The first readable step, and the content of its file; ``TreeError`` if there is none, or why, if lenient."""
    problem: TreeError | None = None
    for step in steps:
        try:
            return step, step.content()
        except TreeError as error:
            problem = problem or error
    assert problem is not None  # there is a step
    if lenient:
        return None, {_UNREADABLE: str(problem)}
    raise problem
