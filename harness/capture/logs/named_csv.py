"""Tables of statistics whose columns have names (``name,dtype,shape,max,min,mean,...``), and ExecuTorch's table of
numeric gaps.

Columns are found by their names in any order, whatever their case; a tab or a semicolon may stand between them.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from typing import ClassVar

from harness.capture.capture import Problem
from harness.capture.logs.base import DEVIATION, L1_NORM, LogReader, Slot, log_reader, shape_of, text_of
from harness.records import Record, SlotKey
from harness.stats.printed import CHECKSUM

_COLUMNS = {
    "name": ("name", "op", "operator", "op name", "tensor", "tensor name", "layer", "layer name", "module", "fqn",
             "module name", "node", "node name", "key"),
    "type": ("type", "op type", "kind", "layer type"),
    "io": ("io", "input/output", "direction"),
    "slot": ("slot", "index", "output index"),
    "step": ("step", "iteration", "iter"),
    "dtype": ("dtype", "data type"),
    "shape": ("shape", "size", "tensor shape"),
}  # fmt: skip
_ITEMS = {
    "max": ("max", "max value", "maximum", "amax"), "min": ("min", "min value", "minimum", "amin"),
    "avg": ("mean", "avg", "avg value", "average", "mean value"),
    "l2norm": ("norm", "l2norm", "l2 norm", "l2norm value", "l2"), L1_NORM: (L1_NORM, "l1norm", "l1", "norm hash"),
    DEVIATION: (DEVIATION, "stddev", "std dev"), "nan count": ("nan count", "nans", "num nan"),
    "zero count": ("zero count", "zeros"), "abs avg": ("abs mean", "abs avg"),
    CHECKSUM: ("md5", "md5 value", "checksum", "hash", "crc", "crc32"), "sha1": ("sha1",),
}  # fmt: skip
_WORD = re.compile(r"[_\s]+")
_LARGEST = 2**31
_UNSTATED = "float32"
_LONGEST_HEADER = 1 << 14


def _plain(text: str) -> str:
    return _WORD.sub(" ", text.strip().lower())


def _columns(header: list[str]) -> tuple[dict[str, int], dict[str, int]]:
    """Places of what tells a slot, and of its statistics."""
    known = {_plain(name): at for at, name in reversed(list(enumerate(header)))}
    found = [
        {each: known[name] for each, names in table.items() if (name := next((n for n in names if n in known), None))}
        for table in (_COLUMNS, _ITEMS)
    ]
    return found[0], found[1]


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Line and cells of each row that is not empty."""
    first = text.partition("\n")[0]
    between = max(",\t;", key=first.count)
    reader = csv.reader(text.splitlines(keepends=True), delimiter=between)
    try:
        for cells in reader:
            if any(each.strip() for each in cells):
                yield reader.line_num, cells
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: {error}") from None


def _header(head: str) -> list[str]:
    """The first row of a file; empty if there is none."""
    try:
        return next(_rows(head.partition("\n")[0][:_LONGEST_HEADER]), (0, []))[1]
    except ValueError:
        return []


@log_reader
class NamedTable(LogReader):
    """A row is a slot; rows of one name are its slots, unless a column numbers them."""

    name = "csv-table"
    suffixes = (".csv", ".tsv")
    backend: ClassVar[str] = "mindspore"
    layout: ClassVar[str] = "DefaultFormat"

    @classmethod
    def recognises(cls, head: str) -> bool:
        places, items = _columns(_header(head))
        return "name" in places and bool(items) and not head.startswith("Op Type,Op Name,Task ID")

    def records(self, path: str, problems: list[Problem]) -> Iterator[Record]:
        text = text_of(path)
        rows = _rows(text)
        header = next(rows)[1]
        places, items = _columns(header)
        seen: dict[tuple[int, str, str], int] = {}
        for line, cells in rows:
            if len(cells) < len(header):
                raise ValueError(f"line {line} is cut: it has {len(cells)} cells, the first line {len(header)}")
            told = {each: cells[at].strip() for each, at in places.items() if at < len(cells)}
            name, step = told.get("name", ""), _whole(line, told.get("step", "0"))
            if not name:
                raise ValueError(f"line {line} names no tensor")
            io = "input" if told.get("io", "").lower().startswith("in") else "output"
            at = seen[step, name, io] = seen.get((step, name, io), -1) + 1
            at = _whole(line, told["slot"]) if told.get("slot") else at
            numbers = {each: cells[where].strip() for each, where in items.items() if where < len(cells)}
            try:
                shape = shape_of(told.get("shape", "").strip("()[] ").replace("x", ",").removeprefix("torch.Size(["))
                kept = {each: text for each, text in numbers.items() if text and text.lower() not in ("null", "none")}
                slot = Slot(name, told.get("type") or "tensor", io, at, told.get("dtype") or _UNSTATED, shape, kept,
                            iteration=step)  # fmt: skip
                yield self.record(slot, 0)
            except ValueError as error:
                raise ValueError(f"line {line}: {error}") from None
        if not text.endswith(("\n", "\r")):
            problems.append(Problem(path, "damaged", "its last line has no end: a number that is cut is a number, too"))
        taken = {"dtype": _UNSTATED, "shape": "that of a number"}
        if missing := [each for each in taken if each not in places]:
            shown = " and ".join(f"{each} ({taken[each]} is taken)" for each in missing)
            problems.append(Problem(path, "note", f"it has no column {shown}"))
        read = {*places.values(), *items.values()}
        if unread := [name.strip() for at, name in enumerate(header) if at not in read and name.strip()]:
            problems.append(Problem(path, "note", f"columns that are not compared: {', '.join(unread)[:200]}"))


@log_reader
class Inspector(LogReader):
    """ExecuTorch's ``calculate_numeric_gap()``, written as CSV: a gap for each operator."""

    name = "executorch"
    suffixes = (".csv", ".tsv")
    backend: ClassVar[str] = "executorch"

    @classmethod
    def recognises(cls, head: str) -> bool:
        return {"aot ops", "runtime ops", "gap"} <= {_plain(each) for each in _header(head)}

    def records(self, path: str, problems: list[Problem]) -> Iterator[Record]:
        rows = _rows(text_of(path))
        places = {_plain(each): at for at, each in enumerate(next(rows)[1])}
        printed = 0
        for line, cells in rows:
            if len(cells) <= max(places.values()):
                raise ValueError(f"line {line} has {len(cells)} cells")
            name = cells[places["aot ops"]].strip() or cells[places["runtime ops"]].strip()
            printed += sum(at < len(cells) for each, at in places.items() if each.endswith("intermediate output"))
            execution = self.begins(name)
            for at, text in enumerate(cells[places["gap"]].strip().strip("[]").split(",")):
                key = SlotKey(0, 0, 0, name, execution, "output", at)
                yield self.argument(key, "gap", _number(line, text), "gap")
        if printed:
            why = f"{printed} tensors are printed, rounded and cut: compared were the gaps"
            problems.append(Problem(path, "skipped", why))


def _whole(line: int, text: str) -> int:
    try:
        number = float(text)
        if number.is_integer() and 0 <= number < _LARGEST:
            return int(number)
    except (ValueError, OverflowError):
        pass
    raise ValueError(f"line {line}: no number of a slot or a step: {text[:40]!r}")


def _number(line: int, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"line {line}: no number: {text[:40]!r}") from None
