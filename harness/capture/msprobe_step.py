"""One step of one rank of a dump in msprobe's layout: its entries as records, and what they state beside values."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple

from harness import dtypes
from harness.capture.capture import Problem
from harness.capture.msprobe_entries import Leaf, argument, parts
from harness.capture.msprobe_facts import is_shape, stated, type_of
from harness.capture.msprobe_json import Cut, JsonEntries
from harness.capture.msprobe_records import StatedRecord, numbers_of
from harness.capture.msprobe_steps import LEFT_OUT, StepDirectory, json_object
from harness.capture.msprobe_values import Left, give_values
from harness.capture.names import LARGEST
from harness.capture.normalise import source_of
from harness.capture.values import FileValues
from harness.dump.msprobe.step_files import CONSTRUCT, OPERATOR, STACK
from harness.errors import DtypeError, TreeError
from harness.graph import SourceLine
from harness.records import Record, RecordExtra, SlotKey
from harness.words import counted

_LINE = re.compile(r"(?:^|\0)File ([^\0\n]*), line (\d{1,9}),")
#: Dtypes by the names that dumps give them.
_DTYPES: dict[str, dtypes.DType] = {}
#: Makes a key in half the time of its class.
_new = tuple.__new__
#: Tasks that name a file for every tensor and write those of the calls they single out: that another one is absent is
#: no damage (``tests/interop/test_msprobe_torch.py`` has a dump of the real one).
_SELECTIVE = ("diff_check", "overflow_check")
#: Fields of a plain tensor without a checksum.
_PLAIN = frozenset({"type", "dtype", "shape", "Max", "Min", "Mean", "Norm", "requires_grad"})
#: calls that overwrite their first input: ``add_``, ``+=``
_IN_PLACE = re.compile(
    r".*[^_]_|__setitem__|__i(?:add|sub|mul|truediv|floordiv|mod|pow|and|or|xor|lshift|rshift|matmul)__"
)
#: inputs that calls of other names overwrite: the means and variances that run along
_STATES = {"batch_norm": (1, 2), "instance_norm": (1, 2)}
_CHECKSUMS = ("md5", "hash")


class _Made(NamedTuple):
    """What was made of an entry.

    Attributes:
        entry, asked: the entry, and for whom its records were made.
        numbers: of its executions, by graph and operator.
        lines, records: what it states beside values, and its records.
    """

    entry: Any
    asked: tuple[Any, ...]
    numbers: Mapping[tuple[int, str], int]
    lines: Sequence[str]
    records: list[Record]


#: What was made last: two sides of a comparison are read side by side, and most of their entries are alike.
_last = _Made(None, (), {}, (), [])


class StepRecords:
    """The records of one step of one rank.

    Args:
        problems: receives what is left out.
        entries: the step's file, if it was opened already.
        alone: whether this is the only step, so that damage to it is an error.
        head: fields of the dump's first file.
    """

    def __init__(
        self,
        where: StepDirectory,
        root: str,
        rootdir: str,
        problems: list[Problem],
        entries: JsonEntries | None,
        alone: bool,
        head: Mapping[str, Any],
    ) -> None:
        self._where = where
        self._root = root
        self._rootdir = rootdir
        self._problems = problems
        self._entries = entries
        self._alone = alone
        self._head = head
        #: whether values may have been kept, in files of their own
        self._kept = head.get("task") != "statistics"
        self._selective = head.get("task") in _SELECTIVE
        self._format = dtypes.TORCH_FORMAT if head.get("framework") == "pytorch" else "DefaultFormat"
        self._executions: dict[tuple[int, str], int] = {}
        self._empty = self._raced = 0
        self._lines: list[str] = []
        self._whole = False
        self._stated: bytes | None = None

    def __iter__(self) -> Iterator[Record]:
        self._begin()
        for key, entry, source in self._read():
            if not isinstance(entry, (dict, list)):
                self._problem(key, "damaged", "the entry is not an object")
                continue
            if (again := self._again(key, entry, source)) is not None:
                yield from again
                continue
            for record in self._entry(key, entry, source):
                yield record
                if record.values is not None and isinstance(record.values, FileValues):
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
        self._empty = self._raced = 0
        self._lines, self._whole = [], False

    def _finish(self) -> None:
        if self._empty:
            why = f"of {self._empty} tensors it states dtype and shape alone: nothing else of them is compared"
            self._problem(self._where.file, "skipped", why)
        if self._raced:
            why = (
                f"checksums of {counted(self._raced, 'input')} that calls overwrite are not compared, their statistics "
                "are: msprobe makes checksums in threads, before or after the call"
            )
            self._problem(self._where.file, "note", why)
        lines, self._lines = self._lines, []
        parents = self.parents()
        for at, line in enumerate(lines):
            if parent := parents.pop(line, None):
                lines[at] = f"{line} in {parent}"
        lines += [f"{key} in {parent}" if parent else key for key, parent in parents.items()]
        self._stated = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass")

    def stated(self) -> bytes:
        """The entries in their order, each with its caller, and below it what it states beside values: a line each."""
        if self._stated is None:
            noted = list(self._problems)
            with suppress(TreeError):
                for _ in self:
                    pass
            self._problems[:] = noted
        return self._stated or b""

    def execution(self, where: tuple[int, int, int, str, int]) -> list[Record] | None:
        """The records of one execution (the first five fields of a key), without the other entries; None where they
        cannot be found so."""
        rank, graph, step, operator, number = where
        if graph or number or (rank, step) != (self._where.rank, self._where.step):
            return None
        apart = StepRecords(self._where, self._root, self._rootdir, [], None, self._alone, self._head)
        try:
            entries, name = self._where.entries(), operator
            while (entry := entries.find(name)) is None and "." in name:
                name = name.rpartition(".")[0]
        except TreeError:
            return None
        if not isinstance(entry, (dict, list)) or (isinstance(entry, dict) and OPERATOR in entry):
            return None
        return [record for record in apart._entry(name, entry, None) if record.key[:5] == where] or None

    def _entry(self, key: str, entry: dict[str, Any] | list[Any], source: str | None) -> Iterable[Record]:
        """The records of an entry; those with values one by one, because an open file is theirs."""
        said = entry.get(OPERATOR) if isinstance(entry, dict) else None
        facts: dict[str, Any] = said if isinstance(said, dict) else {}
        name, op_type = facts.get("name", key), facts.get("type") or type_of(key)
        graph = facts.get("graph", 0)
        if not (isinstance(name, str) and isinstance(op_type, str) and type(graph) is int and 0 <= graph <= LARGEST):
            self._problem(key, "damaged", f"{OPERATOR} says no name, type and graph")
            return ()
        where = self._where.rank, graph, self._where.step, name
        if not facts and not self._kept:
            return self._at_once(key, entry, where, op_type, source)
        self._lines.append(key)
        self._lines += _found(key, entry)
        records = self._of_parts(key, entry, where, op_type, source)
        return records if not facts else _with_kernel(records, facts)

    def _at_once(
        self, key: str, entry: Any, where: tuple[int, int, int, str], op_type: str, source: str | None
    ) -> list[Record]:
        """The records of an entry without values; the other side of a comparison may have the same entry."""
        global _last
        executions = self._executions
        at, before = len(self._lines), (len(self._problems), self._empty, self._raced)
        self._lines.append(key)
        graph, name = where[1], where[3]
        operators = [(graph, name + suffix) for suffix, _, _ in parts(entry)]
        numbers = {each: executions.get(each, 0) for each in operators}
        records = self._plainly(entry, where, op_type, source)
        if records is None:
            records = list(self._of_parts(key, entry, where, op_type, source))
        self._lines += _found(key, entry)
        if before == (len(self._problems), self._empty, self._raced) and len(numbers) == len(operators):
            _last = _Made(entry, (key, source, *where[:3], self._format), numbers, self._lines[at:], records)
        return records

    def _plainly(
        self, entry: Any, where: tuple[int, int, int, str], op_type: str, source: str | None
    ) -> list[Record] | None:
        """What ``_of_parts`` makes of an entry, if every tensor of it is a plain one of which four numbers are stated;
        else None, and nothing is noted."""
        found = parts(entry)
        if len(found) > 1:
            return None
        rank, graph, step, name = where
        number = self._executions.get((graph, name), 0)
        records: list[Record] = []
        lines = []
        for io, slot, said, keyword, tensor in found[0].leaves:
            place = _new(SlotKey, (rank, graph, step, name, number, io, slot))
            if not tensor:
                record = _argument(place, op_type, Leaf(io, slot, said, keyword, tensor))
            elif said.keys() == _PLAIN and said["type"] == "torch.Tensor" and is_shape(shape := said["shape"]):
                dtype = _DTYPES.get(said["dtype"])
                numbers = numbers_of(said)
                if dtype is None or numbers is None:
                    return None
                if said["requires_grad"] is True:
                    lines.append(f"{name}.{io}.{slot} requires_grad")
                record = StatedRecord.of(place, op_type, dtype.name, _once(tuple(shape)), self._format, numbers)
            else:
                return None
            record.source = source
            records.append(record)
        self._lines += lines
        self._executions[graph, name] = number + 1
        return records

    def _again(self, key: str, entry: Any, source: str | None) -> list[Record] | None:
        """The records that were made last, if it was of this entry; else None."""
        made = _last
        if made.entry is not entry or self._kept:
            return None
        numbers, executions = made.numbers, self._executions
        if made.asked != (key, source, self._where.rank, 0, self._where.step, self._format):
            return None
        for place, number in numbers.items():
            if executions.get(place, 0) != number:
                return None
        for place in numbers:
            executions[place] = executions.get(place, 0) + 1
        self._lines += made.lines
        return made.records

    def _of_parts(
        self, key: str, entry: Any, where: tuple[int, int, int, str], op_type: str, source: str | None
    ) -> Iterator[Record]:
        rank, graph, step, name = where
        for suffix, kind, leaves in parts(entry):
            operator = name + suffix if suffix else name
            number = self._executions.get((graph, operator), 0)
            self._executions[graph, operator] = number + 1
            for leaf in leaves:
                io, slot, said, _, tensor = leaf
                place = _new(SlotKey, (rank, graph, step, operator, number, io, slot))
                if tensor:
                    record = self._record(key, place, suffix, kind or op_type, said)
                    if beside := stated(said):
                        self._lines.append(f"{key}{suffix}.{io}.{slot} {beside}")
                else:
                    record = _argument(place, kind or op_type, leaf)
                if record is not None:
                    record.source = source
                    yield record

    def _record(self, entry: str, key: SlotKey, suffix: str, op_type: str, said: Mapping[str, Any]) -> Record | None:
        shape, named = said.get("shape"), said.get("dtype")
        why, known = "", None
        if not is_shape(shape):
            why = f"its shape is {str(shape)[:80]}"
        elif not isinstance(named, str):
            why = f"its dtype is {str(named)[:80]}"
        else:
            known = _DTYPES.get(named)
            if known is None:
                try:
                    known = _DTYPES[named] = dtypes.by_name(named)
                except DtypeError as error:
                    why = str(error)
        if why:
            self._problem(f"{entry}{suffix}.{key.io}.{key.slot}", "damaged", why)
            return None
        assert isinstance(shape, list)
        assert known is not None
        dtype, sizes = known, _once(tuple(shape))
        shown = said.get("format")
        layout = shown if isinstance(shown, str) else self._format
        unsaved = False
        if "data_name" in said:
            record = Record(key, op_type, dtype.name, sizes, layout)
            try:
                give_values(record, dtype, said["data_name"], self._where, self._root)
                return record
            except Left as left:
                unsaved = left.absent and self._selective
                if not unsaved:
                    self._problem(left.name, left.kind, left.why)
        if "md5" in said or "hash" in said:
            said = self._steady(entry, op_type, key, said)
        stated_ = StatedRecord.of(key, op_type, dtype.name, sizes, layout, said)
        if said.get("Max") is None and not stated_.row():
            if "data_name" in said and not unsaved:
                return None
            self._empty += 0 not in shape
        return stated_

    def _steady(self, entry: str, op_type: str, key: SlotKey, said: Mapping[str, Any]) -> Mapping[str, Any]:
        """What is stated, without the checksum of an input that a call of PyTorch's overwrites."""
        if key.io != "input" or not any(map(said.get, _CHECKSUMS)) or self._head.get("framework") != "pytorch":
            return said
        written = key.slot in _STATES.get(op_type, ()) or (key.slot == 0 and _IN_PLACE.fullmatch(op_type) is not None)
        if not written or not entry.endswith(".forward") or entry.startswith("Module."):
            return said
        self._raced += 1
        return {name: value for name, value in said.items() if name not in _CHECKSUMS}

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
                source = _source("\0".join(line for line in lines if isinstance(line, str)), self._rootdir)
                for name in names:
                    if isinstance(name, str):
                        found[name] = source
        return found

    def parents(self) -> dict[str, str | None]:
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


def _found(key: str, entry: Any) -> list[str]:
    """The line of an entry that says whether a NaN was found."""
    return [f"{key} is_nan={entry['is_nan']}"] if isinstance(entry, dict) and "is_nan" in entry else []


def _argument(key: SlotKey, op_type: str, leaf: Leaf) -> Record:
    """The record of an argument that is no tensor."""
    dtype, array = argument(leaf.said)
    extra = RecordExtra(named=leaf.name or None)
    return Record(key, op_type, dtype, array.shape, dtypes.ARGUMENT_FORMAT, array, extra=extra)


def _with_kernel(records: Iterable[Record], facts: Mapping[str, Any]) -> Iterator[Record]:
    """Records that say what our entries say of their kernel."""
    for record in records:
        _say_kernel(record.extra, facts)
        yield record


def _say_kernel(extra: RecordExtra, facts: Mapping[str, Any]) -> None:
    """Adds what our entries say about where the operator ran, and which operators it was fused from."""
    stream, task, alone, members = (facts.get(name) for name in ("stream", "task", "alone", "members"))
    extra.stream = stream if type(stream) is int else None
    extra.task = task if type(task) is int else None
    extra.alone = alone if isinstance(alone, str) else None
    if isinstance(members, list) and all(isinstance(each, str) for each in members):
        extra.members = tuple(members)


@lru_cache(maxsize=16384)
def _once(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The same object for equal shapes."""
    return shape


@lru_cache(maxsize=16384)
def _source(lines: str, rootdir: str) -> str | None:
    """The source line of a stack, innermost call first; the stacks of a program recur."""
    found = [SourceLine(m[1], int(m[2]), int(m[2]), None, None, "") for m in _LINE.finditer(lines)]
    return source_of(reversed(found), rootdir)
