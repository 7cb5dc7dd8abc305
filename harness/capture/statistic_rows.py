"""Parses the rows of ``statistic.csv`` of every generation.

Source: the real host writer of 2.10.0 (rows and header reproduced by the dump's tests); older columns and spellings
from documents and other readers (dump_output.md section 8): ``(2,3)`` for a shape, ``Input/Output`` for ``IO``,
``MD5 Value``, a ``Format`` column, ``null`` and empty cells for what was not calculated.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from harness import dtypes
from harness.capture.names import is_number
from harness.dtypes import DType
from harness.errors import DtypeError
from harness.stats.printed import COLUMNS, PrintedStatistics

FILE = "statistic.csv"
MAX_BYTES = 1 << 28
"""Larger files are refused."""

#: Beginning of the current header, in lower case.
BASE = (
    "op type", "op name", "task id", "stream id", "timestamp", "io", "slot", "data size", "data type", "shape",
)  # fmt: skip
_ITEM_OF = {column.lower(): item for item, column in COLUMNS.items()} | {"md5 value": "md5", "sha1 value": "sha1"}
_NUMBER = re.compile(r"[0-9]{1,20}")
_SHAPE = re.compile(r"[\[(]\s*((?:[0-9]{1,18}(?:(?:\s*,\s*|\s+)[0-9]{1,18}){0,31})?)\s*,?\s*[\])]")


class Row(NamedTuple):
    """The row of one tensor.

    Attributes:
        op_type, op_name: type and name as written; the name is the operator's full name, or an older, mangled form of
            it.
        task, stream, timestamp, io, slot: numbers as in the tensor's file name.
        dtype, shape: dtype and shape of the dumped tensor.
        format: ``DefaultFormat``, or what a ``Format`` column says.
        statistics: the items that were calculated.
    """

    op_type: str
    op_name: str
    task: int
    stream: int
    timestamp: int
    io: str
    slot: int
    dtype: DType
    shape: tuple[int, ...]
    format: str
    statistics: PrintedStatistics


class BadRow(NamedTuple):
    """A line that is not a row.

    Attributes:
        line: number of the line, from 1.
        why: what is wrong with it.
    """

    line: int
    why: str


def rows(data: bytes) -> Iterator[Row | BadRow]:
    """The rows of a file, in its order.

    A header may occur again further down, if a run with other columns continued the file. A line that cannot be read
    becomes a ``BadRow``.
    """
    columns: _Columns | None = None
    cut = data.count(b"\n") + 1 if not data.endswith(b"\n") else -1
    reader = csv.reader(io.StringIO(data.decode("utf-8", "replace"), newline=""))
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            yield BadRow(reader.line_num, str(error))
            continue
        if cells is None:
            return
        if not cells:
            continue
        if cells[0].strip().lower() == BASE[0]:
            columns = _columns(cells)
        elif columns is None:
            yield BadRow(reader.line_num, "no header before it")
            return
        else:
            found = _row(cells, columns, reader.line_num)
            if reader.line_num >= cut > 0 and len(cells) <= columns.named:
                # A truncated number is a number as well; only the comma after the last cell shows that it is complete.
                found = BadRow(reader.line_num, f"the file ends in it, after {cells[-1][-40:]!r}")
            yield found


def shape_of(text: str) -> tuple[int, ...] | None:
    """The shape in a cell, ``[2,3]`` or ``(2,3)``; None if the cell holds no shape."""
    found = _SHAPE.fullmatch(text)
    return None if found is None else tuple(int(size) for size in found[1].replace(",", " ").split())


def statistics_items(header: str) -> tuple[str, ...]:
    """The items of a header with the current columns and one column per item; empty for any other line."""
    names = [name.strip().lower() for name in header.split(",")]
    if names[-1] == "":
        names.pop()
    items = tuple(_ITEM_OF.get(name, "") for name in names[len(BASE) :])
    return items if tuple(names[: len(BASE)]) == BASE and all(items) and len(set(items)) == len(items) else ()


class _Columns(NamedTuple):
    """The column of each cell in a row; a column the header lacks lies beyond the row's end.

    Attributes:
        named: number of named columns.
        io, task, stream, timestamp, slot, shape, dtype, op_type, op_name, format: the column of each.
        items: statistics, and the column of each.
    """

    named: int
    io: int
    task: int
    stream: int
    timestamp: int
    slot: int
    shape: int
    dtype: int
    op_type: int
    op_name: int
    format: int
    items: tuple[tuple[str, int], ...]


#: In the order of ``_Columns``; of several names, the first one in the header counts.
_NAMES = (
    ("io", "input/output"), ("task id",), ("stream id",), ("timestamp",), ("slot",), ("shape",), ("data type",),
    ("op type",), ("op name",), ("format",),
)  # fmt: skip
_NOWHERE = 1 << 30


def _columns(header: Sequence[str]) -> _Columns:
    """Reads a header."""
    columns = {name.strip().lower(): at for at, name in enumerate(header) if name.strip()}
    places = [next((columns[name] for name in names if name in columns), _NOWHERE) for names in _NAMES]
    items = tuple((_ITEM_OF[name], at) for name, at in columns.items() if name in _ITEM_OF)
    return _Columns._make([len(columns), *places, items])


def _row(cells: Sequence[str], columns: _Columns, line: int) -> Row | BadRow:
    def cell(at: int) -> str:
        return cells[at].strip() if at < len(cells) else ""

    if len(cells) < columns.named:
        return BadRow(line, f"{len(cells)} cells under {columns.named} columns")
    direction = cell(columns.io).lower()
    numbers = [cell(columns.task) or "0", cell(columns.stream) or "0", cell(columns.timestamp), cell(columns.slot)]
    if direction not in ("input", "output") or not (all(map(_NUMBER.fullmatch, numbers)) and is_number(numbers[3])):
        return BadRow(line, f"task, stream, timestamp and slot {numbers}, {direction[:20]!r} name no slot")
    task, stream, stamp, slot = map(int, numbers)
    text = cell(columns.shape)
    shape = shape_of(text)
    if shape is None:
        return BadRow(line, f"shape {text[:80]!r}")
    try:
        dtype = dtypes.by_name(cell(columns.dtype))
    except DtypeError as error:
        return BadRow(line, str(error))
    texts = {item: found for item, at in columns.items if at < len(cells) and (found := cells[at].strip())}
    return Row(
        cell(columns.op_type),
        cell(columns.op_name),
        task,
        stream,
        stamp,
        direction,
        slot,
        dtype,
        shape,
        cell(columns.format) or "DefaultFormat",
        PrintedStatistics(texts, dtype.name),
    )
