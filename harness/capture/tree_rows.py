"""Turns rows of statistics into records: grouped by execution, one by one or all at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod
from operator import ge
from typing import Any, NamedTuple

from harness.capture.iteration import Entry
from harness.capture.join import Owner, Shape, fits
from harness.capture.statistic_table import RowRecord, StatisticTable
from harness.capture.streams import Stream, merged
from harness.records import Record, Rows, SlotKey


class TableRows(NamedTuple):
    """Some rows of a table, by number."""

    table: StatisticTable
    at: list[int]


class ExecutionFiles(NamedTuple):
    """Files (or rows) of one execution of an operator, inputs before outputs; with its start and its place."""

    start: int
    graph: int
    iteration: int
    op_type: str
    op_name: str
    files: list[Entry] | TableRows


def in_order(tables: Iterable[tuple[StatisticTable, int, int]]) -> Iterator[ExecutionFiles]:
    """The executions of several tables (each of a graph and an iteration) by their start."""
    return merged((stream_of_rows(*each) for each in tables), started)


def stream_of_rows(table: StatisticTable, graph: int, iteration: int) -> Stream[ExecutionFiles]:
    """``executions_of_rows``, with the time that they took."""
    times = table.timestamps or [0]
    return Stream(min(times), max(times), executions_of_rows(table, graph, iteration))


def started(execution: ExecutionFiles) -> tuple[int, int, int]:
    """The sort key of executions."""
    return execution.start, execution.graph, execution.iteration


def executions_of_rows(table: StatisticTable, graph: int, iteration: int) -> Iterator[ExecutionFiles]:
    """The executions of one table, by their start."""
    # Texts and numbers instead of pairs, because the garbage collector ignores them.
    owners = list(map("\0".join, zip(table.op_types, table.op_names, strict=True)))
    places = [slot + _OUTPUT if io == "output" else slot for io, slot in zip(table.ios, table.slots, strict=True)]
    order: Sequence[int] = range(len(owners))
    if any(map(ge, table.timestamps, table.timestamps[1:])):
        order = sorted(order, key=lambda at: (table.timestamps[at], table.op_types[at], table.op_names[at], places[at]))
    for group in grouped(order, owners, places):
        first = group[0]
        named = table.op_types[first], table.op_names[first]
        yield new(ExecutionFiles, (table.timestamps[first], graph, iteration, *named, new(TableRows, (table, group))))


#: Makes a key in half the time of ``SlotKey``.
new = tuple.__new__
#: Above every slot: outputs come after inputs.
_OUTPUT = 10**21


def grouped(order: Sequence[int], owners: Sequence[Any], places: Sequence[Any]) -> list[list[int]]:
    """The rows that belong to each execution, by number; see the head of ``tree_records``.

    Args:
        order: row numbers, by time.
        owners: identity of the operator, by row number.
        places: position that grows from slot to slot, by row number.
    """
    running: dict[Any, list[int]] = {}
    found: list[list[int]] = []
    for at in order:
        owner = owners[at]
        group = running.get(owner)
        if group is None or places[at] <= places[group[-1]]:
            group = running[owner] = []
            found.append(group)
        group.append(at)
    return found


def row_records(key: SlotKey, execution: ExecutionFiles, owner: Owner | None) -> Iterator[Record]:
    """The rows of an execution; ``key`` is that of any slot of it."""
    assert isinstance(execution.files, TableRows)
    table, numbers = execution.files
    source = owner.source if owner is not None else None
    where = key[:5]
    for at in numbers:
        own = SlotKey(*where, table.ios[at], table.slots[at])
        yield RowRecord.of(table, at, own, _shape(table, at, owner), source)


def _shape(table: StatisticTable, at: int, owner: Owner | None) -> Shape:
    """The logical shape of a row's tensor, if the graph knows it."""
    shape = table.shapes[at]
    logical = owner.slot(table.ios[at], table.slots[at])[0] if owner is not None else None
    return logical if logical is not None and logical != shape and fits(logical, prod(shape)) else shape


class Gathered:
    """The rows of a rank, execution by execution.

    Attributes:
        keys: keys of the rows so far.
    """

    def __init__(self) -> None:
        self.keys: list[SlotKey] = []
        self._runs: list[tuple[StatisticTable, list[int], Owner | None]] = []
        self._tables: list[StatisticTable] = []
        self._places: list[int] = []
        self._shapes: list[Shape] = []
        self._sources: list[str | None] = []

    def add(self, execution: ExecutionFiles, owner: Owner | None, where: tuple[int, int, int, str, int]) -> None:
        """Adds the rows of an execution; ``where`` are the common fields of their keys."""
        assert isinstance(execution.files, TableRows)
        table, numbers = execution.files
        ios, slots = table.ios, table.slots
        self.keys.extend([new(SlotKey, (*where, ios[at], slots[at])) for at in numbers])
        self._runs.append((table, numbers, owner))

    def rows(self) -> Rows | None:
        """All rows; None if there are none, or the tables have different columns."""
        runs = self._runs
        kinds = {table.items for table in {id(table): table for table, _, _ in runs}.values()}
        if len(kinds) != 1:
            return None
        self._tables = [table for table, numbers, _ in runs for _ in numbers]
        self._places = [at for _, numbers, _ in runs for at in numbers]
        self._sources = [None if owner is None else owner.source for _, numbers, owner in runs for _ in numbers]
        self._shapes = [
            table.shapes[at] if owner is None else _shape(table, at, owner)
            for table, numbers, owner in runs
            for at in numbers
        ]
        return Rows(
            kinds.pop(), self.keys, self._column("op_types"), [dtype.name for dtype in self._column("dtypes")],
            self._shapes, self._sources, self._column("texts"), self.record,
        )  # fmt: skip

    def _column(self, name: str) -> list[Any]:
        if all(run[0] is self._runs[0][0] for run in self._runs):
            return list(map(getattr(self._tables[0], name).__getitem__, self._places))
        return [getattr(table, name)[at] for table, at in zip(self._tables, self._places, strict=True)]

    def record(self, number: int) -> RowRecord:
        """The record of a row."""
        return RowRecord.of(
            self._tables[number], self._places[number], self.keys[number], self._shapes[number], self._sources[number]
        )


def joined(parts: Iterable[Rows | None]) -> Rows | None:
    """The rows of several ranks, one after the other; None if a rank has none, or their items differ."""
    found: list[Rows] = []
    for part in parts:
        if part is None or (found and part.items != found[0].items):
            return None
        found.append(part)
    if len(found) < 2:
        return found[0] if found else None
    origin = [(part, at) for part in found for at in range(len(part.keys))]
    whole = Rows(found[0].items, [], [], [], [], [], [], lambda number: origin[number][0].record(origin[number][1]))
    for part in found:
        for name in ("keys", "op_types", "dtypes", "shapes", "sources", "texts"):
            getattr(whole, name).extend(getattr(part, name))
    return whole
