"""The tensor files of one rank, as records in the order they were executed.

Source of the order: time stamps. Within one directory, files of one operator belong to one execution while (input or
output, slot) grows; a file that does not grow it starts the next execution (measured on loops).
"""

from __future__ import annotations

import heapq
import os
import re
from collections.abc import Iterator
from math import prod
from typing import NamedTuple

from harness.capture import npy
from harness.capture.capture import Problem
from harness.capture.join import Join, Owner, fits
from harness.capture.names import FileName, parse
from harness.dtypes import DType
from harness.errors import TreeError
from harness.records import Array, Record, SlotKey

EAGER_BYTES = 1 << 20
"""Larger tensors are read when their values are asked for, smaller ones together with their header."""
MAX_MAPPING = 1 << 26
_DIGITS = re.compile(r"\d{1,20}\.npy$")
_MAPPING = "mapping.csv"


class RankDirectory(NamedTuple):
    """Where tensors are: ``{root}/{network}/{graph}/{iteration}``.

    Attributes:
        root: real path of the rank directory.
        keeps_modes: file modes tell finished files from others.
    """

    rank: int
    root: str
    network: str
    keeps_modes: bool


class _File(NamedTuple):
    """One tensor file: its name taken apart and its path."""

    name: FileName
    path: str


class _Execution(NamedTuple):
    """Files of one execution of an operator, inputs before outputs; sorts by when and where it started."""

    start: int
    graph: int
    iteration: int
    files: list[_File]


class _Values:
    """Loads one tensor; holds it from reading the header until it is asked for or the next record is made."""

    __slots__ = ("device", "hot", "named", "path", "shape")

    def __init__(
        self, path: str, named: str | None, shape: tuple[int, ...], device: DType | None, hot: Array | None
    ) -> None:
        self.path = path
        self.named = named
        self.shape = shape
        self.device = device
        self.hot = hot

    def __call__(self) -> Array:
        hot, self.hot = self.hot, None
        return hot if hot is not None else npy.load(self.path, self.named, self.shape, self.device)


class RankRecords:
    """Iterates the records of one rank; each iteration reads the directory anew.

    Args:
        problems: what is left out is added here.
    """

    def __init__(self, where: RankDirectory, join: Join, problems: list[Problem]) -> None:
        self._where = where
        self._join = join
        self._problems = problems
        self._seen: dict[tuple[int, int, str, str], int] = {}

    def __iter__(self) -> Iterator[Record]:
        self._seen = {}
        streams = [self._executions(graph, iteration, path) for graph, iteration, path in self._directories()]
        for execution in heapq.merge(*streams, key=_started):
            for values, record in self._records(execution):
                yield record
                values.hot = None

    # -- directories -----------------------------------------------------------------------------------------------
    def _directories(self) -> Iterator[tuple[int, int, str]]:
        """``(graph, iteration, path)`` of every iteration directory."""
        top = os.path.join(self._where.root, self._where.network)
        self._inside(top)
        for graph, graph_path in self._numbered(top):
            for iteration, path in self._numbered(graph_path):
                yield graph, iteration, path

    def _numbered(self, path: str) -> list[tuple[int, str]]:
        found = []
        try:
            with os.scandir(path) as entries:
                for entry in entries:
                    if not entry.name.isdecimal() or len(entry.name) > 10:
                        continue  # constants, and whatever else lies there
                    if entry.is_symlink():
                        self._inside(entry.path)
                    if entry.is_dir():
                        found.append((int(entry.name), entry.path))
        except OSError as error:
            raise TreeError(f"{path}: {error.strerror}") from None
        return sorted(found)

    def _inside(self, path: str) -> None:
        real = os.path.realpath(path)
        if not real.startswith(self._where.root + os.sep):
            raise TreeError(f"{path}: a link to {real}, outside of the tree {self._where.root}; it is not followed")

    def _problem(self, path: str, kind: str, why: str) -> None:
        self._problems.append(Problem(os.path.relpath(path, self._where.root), kind, why))

    # -- names -----------------------------------------------------------------------------------------------------
    def _executions(self, graph: int, iteration: int, path: str) -> Iterator[_Execution]:
        """Executions of one directory, by their start."""
        files = self._files(path)
        files.sort(key=_when)
        running: dict[tuple[str, str], _Execution] = {}
        order: list[_Execution] = []
        for file in files:
            name = file.name
            owner = name.op_type, name.op_name
            execution = running.get(owner)
            if execution is not None:
                last = execution.files[-1].name
                if (name.io, name.slot) <= (last.io, last.slot):
                    execution = None
            if execution is None:
                execution = _Execution(name.timestamp, graph, iteration, [])
                running[owner] = execution
                order.append(execution)
            execution.files.append(file)
        return iter(order)

    def _files(self, path: str) -> list[_File]:
        """Tensor files of one directory, in any order."""
        files: list[_File] = []
        mapped: list[tuple[str, str]] = []
        try:
            with os.scandir(path) as entries:
                for entry in entries:
                    name = entry.name
                    if entry.is_symlink():
                        self._inside(entry.path)
                    elif not entry.is_file(follow_symlinks=False):
                        continue
                    parsed = parse(name)
                    if parsed is not None:
                        files.append(_File(parsed, entry.path))
                    else:
                        self._other(name, entry.path, mapped)
        except OSError as error:
            raise TreeError(f"{path}: {error.strerror}") from None
        self._mapped(path, mapped, files)
        return files

    def _other(self, name: str, path: str, mapped: list[tuple[str, str]]) -> None:
        """Sorts out a file that is not named like a tensor."""
        if _DIGITS.fullmatch(name):
            mapped.append((name, path))
        elif name.startswith(".") and name.endswith(".part"):
            self._problem(path, "incomplete", "a temporary file; its writer was killed")
        elif name.endswith(".npy"):
            self._problem(path, "name", "not the name of a dump file")

    def _mapped(self, directory: str, found: list[tuple[str, str]], files: list[_File]) -> None:
        """Adds the files that stand under a number."""
        mapping = self._mapping(os.path.join(directory, _MAPPING)) if found else {}
        for name, path in found:
            original = mapping.get(name)
            parsed = parse(original) if original is not None else None
            if parsed is None:
                why = f"{_MAPPING} has no row for it" if original is None else f"{_MAPPING} calls it {original!r}"
                self._problem(path, "name", why)
                continue
            files.append(_File(parsed, path))

    def _mapping(self, path: str) -> dict[str, str]:
        try:
            if os.path.islink(path):
                self._inside(path)
            with open(path, "rb") as file:
                data = file.read(MAX_MAPPING + 1)
        except OSError:
            return {}
        if len(data) > MAX_MAPPING:
            raise TreeError(f"{path}: more than {MAX_MAPPING} bytes")
        rows = (row.partition(",") for row in data.decode("utf-8", "surrogateescape").splitlines())
        return {name: original for name, comma, original in rows if comma}

    # -- records ---------------------------------------------------------------------------------------------------
    def _owner(self, execution: _Execution) -> tuple[Owner | None, str, int]:
        """Who ran, its full name, and how often it had run before in this directory."""
        name = execution.files[0].name
        key = (execution.graph, execution.iteration, name.op_type, name.op_name)
        count = self._seen.get(key, 0)
        self._seen[key] = count + 1
        owners = self._join.owners(execution.graph, name.op_type, name.op_name)
        if not owners:
            return None, name.op_name, count
        # Those whose names mangle alike take turns, in the order of the graph.
        owner = owners[count % len(owners)]
        return owner, owner.name, count // len(owners)

    def _records(self, execution: _Execution) -> Iterator[tuple[_Values, Record]]:
        owner, operator, number = self._owner(execution)
        rank, modes = self._where.rank, self._where.keeps_modes
        source = owner.source if owner is not None else None
        for name, path in execution.files:
            logical, device = owner.slot(name.io, name.slot) if owner is not None else (None, None)
            try:
                header, array = npy.read(path, modes=modes, limit=EAGER_BYTES, device=device)
                dtype = npy.dtype_named(header, name.dtype)
                if array is not None:
                    array = npy.as_dtype(array, dtype)
            except npy.Incomplete as error:
                self._problem(path, "incomplete", str(error))
                continue
            except (ValueError, OSError) as error:
                self._problem(path, "damaged", str(error))
                continue
            shape = header.shape
            if logical is not None and logical != shape and fits(logical, prod(shape)):
                # MindSpore's files of views carry the shape of what they are a view of.
                shape = logical
            if array is not None:
                array = array.reshape(shape)
            values = _Values(path, name.dtype, shape, device, array)
            key = SlotKey(rank, execution.graph, execution.iteration, operator, number, name.io, name.slot)
            yield values, Record(key, name.op_type, dtype.name, shape, name.format, values, source)


def _started(execution: _Execution) -> tuple[int, int, int]:
    return execution.start, execution.graph, execution.iteration


def _when(file: _File) -> tuple[int, str, str, str, int]:
    name = file.name
    return name.timestamp, name.op_type, name.op_name, name.io, name.slot
