"""The tensor files of one rank, as records in the order they were executed.

Source of the order: time stamps. Within one directory, files of one operator belong to one execution while (input or
output, slot) grows; a file that does not grow it starts the next execution (measured on loops).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from math import prod
from typing import NamedTuple

from harness.capture import npy, raw
from harness.capture.capture import Problem
from harness.capture.iteration import Entry, IterationDirectory
from harness.capture.join import Join, Owner, Shape, fits
from harness.capture.names import FileName, NameKinds, is_label
from harness.capture.narrowing import as_dtype
from harness.capture.statistic_rows import Row
from harness.capture.statistic_table import extra_of
from harness.capture.storage import stored_as
from harness.capture.streams import Stream, merged
from harness.capture.tree_rows import (
    ExecutionFiles,
    Gathered,
    TableRows,
    grouped,
    in_order,
    new,
    row_records,
    started,
    stream_of_rows,
)
from harness.capture.unfinished import unfinished
from harness.capture.values import EAGER_BYTES, Ahead, FileValues
from harness.dtypes import DType
from harness.dump.names import PARAMETER, mangle
from harness.errors import TreeError
from harness.reading import is_directory, no_directory, refuse_outside
from harness.records import Record, RecordExtra, Rows, SlotKey
from harness.stats.printed import row_digest


class RankDirectory(NamedTuple):
    """A directory of tensors: ``{root}/{network}/{graph}/{iteration}``.

    Attributes:
        root: real path of the rank directory.
        keeps_modes: file modes tell finished files from others.
        ahead: whether every tensor will be read, so that files may be opened and read ahead.
        last: the iteration that was begun last, by graph, if the tree states it.
    """

    rank: int
    root: str
    network: str
    keeps_modes: bool
    ahead: bool = False
    last: Mapping[int, int] = {}


#: The sort key of executions: time stamp, graph, iteration.
Started = tuple[int, int, int]


class RankRecords:
    """Iterates the records of one rank; each iteration reads the directory again.

    Args:
        problems: receives what is left out.

    Attributes:
        listed: number of tensors in the directories listed so far.
    """

    def __init__(self, where: RankDirectory, join: Join, problems: list[Problem]) -> None:
        self._where = where
        self._join = join
        self._problems = problems
        #: by graph and iteration: how often each operator ran, and how many files of executions are still to come
        self._seen: dict[tuple[int, int], dict[str, int]] = {}
        self._coming: Counter[tuple[int, int]] = Counter()
        #: by graph, type and name in files: the possible owners, and the name that executions are counted by
        self._owners: dict[tuple[int, str, str], tuple[Sequence[Owner], str]] = {}
        self._closed: dict[tuple[int, int], bool] = {}
        self._ahead = Ahead(where.ahead, where.root)
        self._kinds = NameKinds()
        self.listed = 0

    def __iter__(self) -> Iterator[Record]:
        return self.of_steps(lambda _: True)

    def of_steps(self, wanted: Callable[[int], bool]) -> Iterator[Record]:
        """The records of some iterations, in the order of execution."""
        self._forget()
        self.listed = 0
        streams = [self._executions(*each) for each in self._directories() if wanted(each[1])]
        for execution in self._ahead.through(merged(streams, started), _paths):
            yield from self._records(execution)
        self.look_at_constants()
        self._look_at_the_last()

    def _forget(self) -> None:
        self._seen, self._closed, self._coming = {}, {}, Counter()

    def _look_at_the_last(self) -> None:
        self._problems += unfinished(self._where.network, self._where.last, self._closed)

    @property
    def rank(self) -> int:
        """The rank of these records."""
        return self._where.rank

    @property
    def root(self) -> str:
        """Real path of the rank's directory."""
        return self._where.root

    @property
    def last(self) -> Mapping[int, int]:
        """The iteration that was begun last, by graph, if the tree states it."""
        return self._where.last

    def parts(self) -> list[tuple[int, int, str]]:
        """Graph, iteration and path of each directory that can be read separately."""
        return list(self._directories())

    def part(
        self, graph: int, iteration: int, paths: Iterable[str], wanted: Callable[[str], bool]
    ) -> Iterator[tuple[Started, Iterator[Record]]]:
        """The executions of all directories of ``parts`` of one iteration: when each started, and its records.

        All parts, merged by the start of the executions, give the records of the whole tree. Read an execution's
        records before the next execution; afterwards ``closed`` tells how a directory ended.

        Args:
            wanted: tells by an operator's name in files whether to read it.
        """
        self._forget()
        self.listed = 0
        streams = [self._executions(graph, iteration, path) for path in paths]
        executions = (each for each in merged(streams, started) if wanted(each.op_name))
        for execution in self._ahead.through(executions, _paths):
            yield started(execution), self._records(execution)

    @property
    def closed(self) -> Mapping[tuple[int, int], bool]:
        """Whether the parameters that end an iteration were found, for each graph and iteration read."""
        return self._closed

    def rows(self) -> Rows | None:
        """All records at once, if every directory holds only plain rows of statistics; else None."""
        self._forget()
        tables = []
        for graph, iteration, path in self._directories():
            directory = IterationDirectory(path, self._where.root, self._problem, self._kinds)
            if directory.entries() or directory.table is None:
                return None
            tables.append((directory.table, graph, iteration))
        found = Gathered()
        for execution in in_order(tables):
            owner, operator, number = self._owner(execution)
            found.add(execution, owner, (self._where.rank, execution.graph, execution.iteration, operator, number))
        self.look_at_constants()
        self._look_at_the_last()
        self.listed = len(found.keys)
        return found.rows()

    def look_at_constants(self) -> None:
        """Reports incomplete files of constants, as reading all records does in the end: they are not slots."""
        for _, graph in self._numbered(os.path.join(self._where.root, self._where.network)):
            folder = os.path.join(graph, "constants")
            names = sorted(os.listdir(folder)) if is_directory(folder, TreeError) else []
            for path in (os.path.join(folder, name) for name in names if name.endswith(".npy")):
                self._inside(path)
                try:
                    npy.read(path, self._where.root, limit=0)
                except npy.Incomplete as error:
                    self._problem(path, "incomplete", str(error))
                except (ValueError, OSError) as error:
                    self._problem(path, "damaged", str(error))

    # -- directories -----------------------------------------------------------------------------------------------
    def _directories(self) -> Iterator[tuple[int, int, str]]:
        """``(graph, iteration, path)`` of every iteration directory."""
        top = os.path.join(self._where.root, self._where.network)
        self._inside(top)
        for graph, graph_path in self._numbered(top, self._none):
            for iteration, path in self._numbered(graph_path, self._none):
                yield graph, iteration, path

    def _none(self, entry: os.DirEntry[str]) -> None:
        self._problem(entry.path, "damaged", no_directory(entry))

    def _numbered(self, path: str, other: Callable[[os.DirEntry[str]], None] = lambda _: None) -> list[tuple[int, str]]:
        """Directories named by a number, sorted; ``other`` is told of what has such a name and is none."""
        found = []
        try:
            with os.scandir(path) as entries:
                for entry in entries:
                    if not is_label(entry.name):
                        continue  # constants, and whatever else lies there
                    if entry.is_symlink():
                        self._inside(entry.path)
                    if entry.is_dir():
                        found.append((int(entry.name), entry.path))
                    else:
                        other(entry)
        except OSError as error:
            raise TreeError(f"{path}: {error.strerror}") from None
        return sorted(found)

    def _inside(self, path: str) -> None:
        refuse_outside(path, self._where.root, TreeError)

    def _problem(self, path: str, kind: str, why: str) -> None:
        problem = Problem(os.path.relpath(path, self._where.root), kind, why)
        if problem not in self._problems[-1:]:  # directories are listed more than once
            self._problems.append(problem)

    # -- names -----------------------------------------------------------------------------------------------------
    def _executions(self, graph: int, iteration: int, path: str) -> Stream[ExecutionFiles]:
        """Executions of one directory."""
        directory = IterationDirectory(path, self._where.root, self._problem, self._kinds)
        files = directory.entries()
        table, plain = directory.table, directory.plain
        self.listed += len(table.op_types) if table is not None else len(plain) if plain is not None else len(files)
        if table is not None:
            return stream_of_rows(table, graph, iteration)
        if not files and not plain:
            return Stream(0, 0, ())
        self._coming[graph, iteration] += len(files) if plain is None else len(plain)
        if plain is not None:
            return Stream(*plain.span, (
                new(ExecutionFiles, (start, graph, iteration, *each[0][0][:2], [Entry(*file) for file in each]))
                for start, each in plain.executions()
            ))  # fmt: skip
        files.sort(key=_when)
        names = [file.name for file in files]
        groups = grouped(range(len(files)), [name[:2] for name in names], [(name.io, name.slot) for name in names])
        return Stream(names[0].timestamp, names[-1].timestamp, (
            ExecutionFiles(
                names[group[0]].timestamp, graph, iteration, *names[group[0]][:2], [files[at] for at in group]
            )
            for group in groups
        ))  # fmt: skip

    # -- records ---------------------------------------------------------------------------------------------------
    def _owner(self, execution: ExecutionFiles) -> tuple[Owner | None, str, int]:
        """The operator that ran, its full name, and how often it ran before in this directory."""
        _, graph, iteration, op_type, op_name, files = execution
        place = graph, iteration
        if op_type == PARAMETER or place not in self._closed:
            self._closed[place] = op_type == PARAMETER or self._closed.get(place, False)
        named = graph, op_type, op_name
        found = self._owners.get(named)
        if found is None:
            if len(self._owners) >= NameKinds.MOST:
                self._owners.clear()
            owners = self._join.owners(*named)
            found = self._owners[named] = owners, owners[0].name if owners else self._full_name(op_name)
        owners, known = found
        counts = self._seen.get(place)
        if counts is None:
            counts = self._seen[place] = {}
        count = counts.get(known, 0)
        counts[known] = count + 1
        if not isinstance(files, TableRows):
            self._coming[place] -= len(files)
            if not self._coming[place]:  # nobody will ask again: there may be a million
                del self._seen[place], self._coming[place]
        if not owners:
            return None, known, count
        # Operators whose names mangle alike take turns, in the order of the graph.
        owner = owners[count % len(owners)]
        return owner, owner.name, count // len(owners)

    def _full_name(self, name: str) -> str:
        """The name of an operator that no graph knows, from the name of its files."""
        return name

    def _records(self, execution: ExecutionFiles) -> Iterator[Record]:
        """The records of an execution; each releases its values when the next is asked for."""
        owner, operator, number = self._owner(execution)
        where = self._where.rank, execution.graph, execution.iteration, operator, number
        source = owner.source if owner is not None else None
        if isinstance(execution.files, TableRows):
            yield from row_records(SlotKey(*where, "", 0), execution, owner)
            return
        raws = None
        op_type = _type_of(execution.op_type, operator)
        try:
            for entry in execution.files:
                name, path, row, has_file, tensor = entry
                io, slot, layout = name.io, name.slot, name.format
                key = new(SlotKey, (*where, io, slot))
                if not has_file and row is not None:
                    yield row_record(key, row, owner, source)
                elif tensor is not None:
                    raws = raws or ExitStack()
                    raws.enter_context(tensor.file)
                    yield _raw_record(key, op_type, entry, tensor, source)
                elif (found := self._values(name, path, owner)) is not None:
                    values, dtype, shape, extra = found
                    if row is not None:
                        _add_row(extra, row)
                    yield Record(key, op_type, dtype.name, shape, layout, values, source, None, extra)
                    values.forget()
        finally:
            if raws is not None:
                raws.close()

    def _values(
        self, name: FileName, path: str, owner: Owner | None
    ) -> tuple[FileValues, DType, Shape, RecordExtra] | None:
        """The loader of a file's values, their dtype and shape; None, and a problem, for a file that cannot be used."""
        logical, device = owner.slot(name.io, name.slot) if owner is not None else (None, None)
        file = None
        try:
            file = self._ahead.take(path)
            header, array = file.begin(modes=self._where.keeps_modes, limit=EAGER_BYTES, device=device)
            dtype = npy.dtype_named(header, name.dtype)
            if array is not None:
                file.close()
                if dtype is not header.dtype:
                    array = as_dtype(array, dtype)
        except (npy.Incomplete, ValueError, OSError) as error:
            if file is not None:
                file.close()
            self._problem(path, "incomplete" if isinstance(error, npy.Incomplete) else "damaged", str(error))
            return None
        shape, extra = header.shape, _where(name)
        stored = None if logical is None else stored_as(name.format, shape, logical, dtype, owner)
        if stored is not None and logical is not None:
            shape, extra.device_shape = logical, shape
        elif logical is not None and logical != shape and fits(logical, prod(shape)):
            # MindSpore's files of views have the shape of the viewed tensor.
            shape = logical
        if array is not None:
            array = stored(array) if stored is not None else array if array.shape == shape else array.reshape(shape)
        read = header.shape if stored else shape
        values = FileValues(path, name.dtype, read, device, array, self._where.root, stored)
        if array is None:
            values.opened = file
            values.plain = header if stored is None and header.dtype is dtype and not header.fortran else None
        return values, dtype, shape, extra


def _type_of(written: str, name: str) -> str:
    """An operator's type, from that in its files' names, where dots are ``_``, and its full name."""
    if "_" not in written:
        return written
    known = name.rpartition("/")[2].rpartition("-op")[0]
    return known if mangle(known) == written else written


def row_record(key: SlotKey, row: Row, owner: Owner | None, source: str | None) -> Record:
    """A tensor of which only statistics were kept.

    Args:
        owner: the operator, if a graph knows it.
        source: its source line.
    """
    logical = owner.slot(row.io, row.slot)[0] if owner is not None else None
    shape = logical if logical is not None and fits(logical, prod(row.shape)) else row.shape
    digest, extra = statistics_of(row, shape)
    return Record(key, row.op_type, row.dtype.name, shape, row.format, None, source, digest, extra)


def _raw_record(key: SlotKey, op_type: str, entry: Entry, tensor: raw.RawTensor, source: str | None) -> Record:
    """A tensor of a file that holds several; read on request."""
    name, extra = entry.name, _where(entry.name)
    if tensor.shape != tensor.entry.shape:
        extra.device_shape = tensor.entry.shape
    load = partial(tensor.file.host, tensor.entry)
    return Record(key, op_type, tensor.dtype.name, tensor.shape, name.format, load, source, extra=extra)


def statistics_of(row: Row, shape: Shape) -> tuple[bytes, RecordExtra]:
    """A row's digest, and its content for ``Record.extra``; see ``RowRecord``."""
    known = row.statistics
    return row_digest(row.dtype.name, shape, known), extra_of(known, row.stream, row.task)


def _add_row(extra: RecordExtra, row: Row) -> None:
    """Adds a row's statistics to a tensor that has values."""
    told = statistics_of(row, row.shape)[1]
    extra.row, extra.statistics = told.row, told.statistics
    if told.stream is not None:
        extra.stream, extra.task = told.stream, told.task


def _where(name: FileName) -> RecordExtra:
    """The stream and task of an operator, for the device whose file names spell dtypes in lower case: only there they
    are real."""
    if name.dtype is None or not name.dtype.islower():
        return RecordExtra()
    return RecordExtra(stream=name.stream, task=name.task)


def _paths(execution: ExecutionFiles) -> list[str]:
    """The paths of its tensor files."""
    files = () if isinstance(execution.files, TableRows) else execution.files
    return [path for _, path, _, has_file, tensor in files if has_file and tensor is None]


def _when(file: Entry) -> tuple[int, str, str, str, int]:
    name = file.name
    return name.timestamp, name.op_type, name.op_name, name.io, name.slot
