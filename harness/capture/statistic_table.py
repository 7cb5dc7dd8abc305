"""Reads a ``statistic.csv`` of current writers as columns, in a tenth of the time of ``statistic_rows``.

It reads only files whose lines all have the form of the real host writer of 2.10.0. For any other file ``table`` gives
None, and ``statistic_rows`` reads it cell by cell, with an error for each line that is not a row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from operator import itemgetter
from typing import Any, TypeVar

import xxhash

from harness import dtypes
from harness.capture.names import LARGEST
from harness.capture.statistic_rows import BASE, shape_of, statistics_items
from harness.dtypes import DType
from harness.dump.names import FORMAT
from harness.errors import DtypeError
from harness.records import DeferredRecord, Record, RecordExtra, SlotKey
from harness.stats import Statistics
from harness.stats.printed import NUMBERS, PrintedStatistics, printed_statistics, row_digest, statistics_of_cells

#: White space (which is stripped from cells) and other line ends are left to the careful reader.
_CAREFUL = bytes(set(range(33)) - set(b"\n"))
_CAREFUL_HEAD = bytes(set(_CAREFUL) - set(b" "))
_DIGITS = 20
#: The csv module refuses cells of 131,072 characters.
_LONG = 1 << 16
#: Number of lines parsed together; with more, the garbage collector would examine the parts again and again.
_CHUNK = 256

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class StatisticTable:
    """The rows of a whole file; each attribute but ``items`` has an entry for each row.

    Attributes:
        items: keys of ``COLUMNS``, in the file's order.
        op_types, op_names: as written.
        tasks, streams, timestamps, ios, slots: numbers as in the tensor's file name.
        dtypes, shapes: dtypes and shapes of the dumped tensors.
        texts: the cells of ``items``, joined by commas.
    """

    items: tuple[str, ...]
    op_types: Sequence[str]
    op_names: Sequence[str]
    tasks: Sequence[int]
    streams: Sequence[int]
    timestamps: Sequence[int]
    ios: Sequence[str]
    slots: Sequence[int]
    dtypes: Sequence[DType]
    shapes: Sequence[tuple[int, ...]]
    texts: Sequence[str]

    def statistics(self, row: int) -> PrintedStatistics:
        """The items of a row that were calculated."""
        texts = self.texts[row].split(",")
        cells = zip(self.items, texts, strict=True)
        return PrintedStatistics(cells if all(texts) else filter(itemgetter(1), cells), self.dtypes[row].name)

    def numbers(self, row: int) -> Statistics | None:
        """A row's numbers; None if an item is missing or not a number."""
        picked = _picked(self.items)
        try:
            return None if picked is None else statistics_of_cells(picked(self.texts[row].split(",")))
        except (ValueError, OverflowError):
            return None


@cache
def _picked(items: tuple[str, ...]) -> Callable[[Sequence[str]], tuple[str, ...]] | None:
    """Picks the cells of ``NUMBERS`` from those of ``items``; None if one is missing."""
    return itemgetter(*map(items.index, NUMBERS)) if set(NUMBERS) <= set(items) else None


@cache
def _counts(items: tuple[str, ...]) -> tuple[int, ...]:
    """Places of the numbers of NaN and infinities among ``items``."""
    return tuple(
        at for at, item in enumerate(items) if item in ("nan count", "negative inf count", "positive inf count")
    )


def table(data: bytes) -> StatisticTable | None:
    """The rows of a file; None if any line is not plainly a row."""
    if not data.isascii() or not data.endswith(b"\n"):
        return None
    head, _, body = data.partition(b"\n")
    if len(head.translate(None, _CAREFUL_HEAD)) < len(head):
        return None
    items = statistics_items(head.decode())
    lines = body.decode().split("\n")
    if lines[-1] == "":
        lines.pop()
    if not items or not lines or max(map(len, lines)) > _LONG or len(body.translate(None, _CAREFUL)) < len(body):
        return None
    columns: list[list[str]] = [[] for _ in BASE]
    for at in range(0, len(lines), _CHUNK):
        parts = [line.split(",", len(BASE) - 1) for line in lines[at : at + _CHUNK]]
        if min(map(len, parts)) < len(BASE):
            return None
        for column, cells in zip(columns, zip(*parts, strict=True), strict=True):
            column.extend(cells)
    rests = _shapes_and_texts(columns.pop(), len(items))
    # Quotes stand around shapes only, two or none.
    if rests is None or body.count(b'"') != rests[2]:
        return None
    return _table(items, columns, rests[0], rests[1])


def _shapes_and_texts(rests: Sequence[str], items: int) -> tuple[list[tuple[int, ...]], list[str], int] | None:
    """Shape and statistics of each line, and the number of quotes around the shapes."""
    known: dict[str, tuple[int, ...] | None] = {}
    shapes, texts, quotes = [], [], 0
    for rest in rests:
        if rest[:1] == '"':
            shown, end, text = rest[1:].partition('",')
            quotes += 2
        else:
            shown, end, text = rest.partition(",")
        shape = known[shown] if shown in known else known.setdefault(shown, shape_of(shown))
        commas = text.count(",")
        if shape is None or not end or not items - 1 <= commas <= items:
            return None
        shapes.append(shape)
        texts.append(text[: text.rindex(",")] if commas == items else text)
    return shapes, texts, quotes


def _table(
    items: tuple[str, ...], columns: Sequence[Sequence[str]], shapes: Sequence[tuple[int, ...]], texts: Sequence[str]
) -> StatisticTable | None:
    op_types, op_names, tasks, streams, timestamps, ios, slots, _, spelled = columns
    task, stream, slot = _numbers(tasks), _numbers(streams), _numbers(slots)
    timestamp = _numbers(timestamps)
    kind = _each(spelled, _dtype)
    io = _each(ios, _direction)
    if any(name.lower() == BASE[0] for name in set(op_types)):
        return None  # another header
    if task is None or stream is None or timestamp is None or slot is None or kind is None or io is None:
        return None
    if max(slot) > LARGEST:
        return None
    return StatisticTable(items, op_types, op_names, task, stream, timestamp, io, slot, kind, shapes, texts)


def _each(column: Sequence[str], reads: Callable[[str], Found | None]) -> list[Found] | None:
    """Reads the cells of a column; None if any cell gives None. Equal cells are read only once."""
    known: dict[str, Found] = {}
    for cell in set(column):
        found = reads(cell)
        if found is None:
            return None
        known[cell] = found
    return list(map(known.__getitem__, column))


def _numbers(column: Sequence[str]) -> list[int] | None:
    if column[0] == column[-1]:
        return _each(column, _number)
    # Mostly all are different: time stamps.
    plain = "".join(column).isdecimal() and min(map(len, column)) > 0 and max(map(len, column)) <= _DIGITS
    return list(map(int, column)) if plain else None


def _number(cell: str) -> int | None:
    """Whether a text matches ``[0-9]{1,20}`` (for ASCII, ``isdecimal`` is equivalent)."""
    return int(cell) if cell.isdecimal() and len(cell) <= _DIGITS else None


def _direction(cell: str) -> str | None:
    name = cell.lower()
    return name if name in ("input", "output") else None


def _dtype(name: str) -> DType | None:
    try:
        return dtypes.by_name(name)
    except DtypeError:
        return None


class RowRecord(DeferredRecord):
    """A slot that is kept as a row; its digest and ``extra`` are made on request.

    ``extra`` holds its texts as ``row``; their numbers as ``statistics``, a ``Statistics`` if no item is missing;
    ``stream`` and ``task`` if one is not 0.
    """

    __slots__ = ("_at", "_table")

    _table: StatisticTable | None
    _at: int

    def __init__(self, *args: Any, **more: Any) -> None:
        """As for ``Record``, with its own digest and ``extra`` (as ``dataclasses.replace`` needs it)."""
        self._table = None
        super().__init__(*args, **more)

    @classmethod
    def of(cls, found: StatisticTable, at: int, key: SlotKey, shape: tuple[int, ...], source: str | None) -> RowRecord:
        """The record of row ``at``; its shape may differ from the row's."""
        made = cls.__new__(cls)
        made.key, made.shape, made.source, made._table, made._at = key, shape, source, found, at
        made.op_type, made.dtype, made.format = found.op_types[at], found.dtypes[at].name, FORMAT
        made.values = made._digest = made._extra = None
        return made

    @property
    def at(self) -> int:
        """Its number among the rows of its table."""
        return self._at

    def _made_digest(self) -> bytes | None:
        table = self._table
        return None if table is None else row_digest(self.dtype, self.shape, table.statistics(self._at))

    def _made_extra(self) -> RecordExtra:
        assert self._table is not None
        table, at = self._table, self._at
        return extra_of(table.statistics(at), table.streams[at], table.tasks[at])

    def content(self) -> bytes | None:
        """A digest that is equal for rows of equal texts: those of this process alone, in a third of the time."""
        table = self._table
        if table is None or self._extra is not None:
            return self.digest
        return xxhash.xxh3_128(f"{self.dtype}{self.shape}{table.texts[self._at]}".encode()).digest()

    def statistics(self) -> Any:
        """See ``Record``; the numbers of a complete row need no dictionary of its texts."""
        if self._extra is None and self._table is not None:
            found = self._table.numbers(self._at)
            if found is not None:
                return found
        return super().statistics()

    def is_plain(self) -> bool | None:
        """Whether the row's text says that nothing is NaN or infinite; None if it has to be read."""
        table = self._table
        if table is None or self._extra is not None:
            return None
        text = table.texts[self._at]
        if "n" in text:  # nan, inf, null
            return None
        places = _counts(table.items)
        if not places:
            return True
        cells = text.split(",")
        return all(cells[at] == "0" for at in places) or None

    def row(self) -> Any:
        """See ``Record``; no number is read."""
        return super().row() if self._table is None or self._extra is not None else self._table.statistics(self._at)

    def agrees(self, other: Record) -> bool | None:
        """See ``Record``; rows with equal texts need no digest."""
        mine, theirs = self._table, other._table if isinstance(other, RowRecord) else None
        if mine is None or theirs is None:
            return super().agrees(other)
        assert isinstance(other, RowRecord)
        if self.dtype != other.dtype or self.shape != other.shape:
            return False
        if mine.items == theirs.items:
            return mine.texts[self._at] == theirs.texts[other._at]
        return list(mine.statistics(self._at).items()) == list(theirs.statistics(other._at).items())


def extra_of(known: PrintedStatistics, stream: int, task: int) -> RecordExtra:
    """``Record.extra`` of a row; see ``RowRecord``."""
    try:
        statistics: Any = printed_statistics(known)
    except (KeyError, ValueError, OverflowError):
        statistics = known
    if stream or task:
        return RecordExtra(statistics, known, stream=stream, task=task)
    return RecordExtra(statistics, known)
