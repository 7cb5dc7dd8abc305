"""Reads the ``statistic.csv`` of many steps as arrays: of each row whether it is finite, its mean and its norm.

Steps whose rows name the same slots in the same order share a layout: of the second one on, bytes alone are compared,
and no object is made for a row. A table of 10,000 rows takes about a sixth of the time of ``statistic_table``.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import ge
from typing import Any, NamedTuple

import numpy as np

from harness.capture.statistic_rows import BASE, FILE, MAX_BYTES
from harness.capture.statistic_table import RowRecord
from harness.capture.statistic_table import table as columns
from harness.capture.tree_records import RankRecords
from harness.errors import TreeError
from harness.reading import read_bytes
from harness.records import Record, SlotKey

Array = np.ndarray[Any, np.dtype[Any]]
#: items that count what is not finite
_COUNTS = ("nan count", "negative inf count", "positive inf count")
_STAMP = BASE.index("timestamp")
#: layouts of a graph that are followed; further ones are read as objects
_LAYOUTS = 16


class Step(NamedTuple):
    """The rows of one step of a graph.

    Attributes:
        layout: number of its layout.
        mean, rms: a number for each row, float32; NaN if the table has no such item. Means are those of scalars alone.
        bad: whether a row holds NaN or infinity.
    """

    layout: int
    mean: Array
    rms: Array
    bad: Array


@dataclass(eq=False)
class Layout:
    """Which slots the rows of a step are.

    Attributes:
        items: keys of ``COLUMNS``, in the file's order.
        head: the first line.
        before, behind: bytes of each row before and behind its time stamp, up to the numbers.
        digits: length of each time stamp.
        counts: number of elements of each row.
        ordered: whether an operator's slot stands there twice: then rows have to be in the order of time.
        rows: slots of the rows (operator, execution, io, slot), once a step of the layout was read as records.
    """

    items: tuple[str, ...]
    head: bytes
    before: list[bytes]
    behind: list[bytes]
    digits: int
    counts: Array
    ordered: bool
    rows: dict[tuple[str, int, str, int], int] = field(default_factory=dict)

    @cached_property
    def ends(self) -> list[int]:
        """Where the time stamp of each row ends."""
        return [len(each) + self.digits for each in self.before]

    @cached_property
    def starts(self) -> list[int]:
        """Where the numbers of each row start."""
        return [end + len(each) for end, each in zip(self.ends, self.behind, strict=True)]

    @cached_property
    def scalars(self) -> list[int]:
        """The rows of one element."""
        return np.flatnonzero(self.counts == 1).tolist()

    @classmethod
    def of(cls, data: bytes) -> Layout | None:
        """The layout of a table; None if it is not plainly one."""
        table = columns(data)
        if table is None or len({len(str(each)) for each in table.timestamps}) > 1:
            return None
        head, *lines = data.split(b"\n")[:-1]
        before, behind = [], []
        for line, text in zip(lines, table.texts, strict=True):
            rest = line.split(b",", _STAMP)[-1]
            start = len(line) - len(rest)
            before.append(line[:start])
            behind.append(line[start + rest.index(b",") : line.rindex(text.encode())])
        named = zip(table.op_names, table.op_types, table.ios, table.slots, strict=True)
        counts = np.array([math.prod(shape) for shape in table.shapes], np.float64)
        ordered = len(set(named)) < len(lines)
        return cls(table.items, head, before, behind, len(str(table.timestamps[0])), counts, ordered)

    def texts(self, data: bytes) -> list[bytes] | None:
        """The numbers of each row of a table; None if it has another layout."""
        head, *lines = data.split(b"\n")
        if head != self.head or lines.pop() or len(lines) != len(self.before):
            return None
        ends = self.ends
        if not all(map(bytes.startswith, lines, self.before)) or not all(
            map(bytes.startswith, lines, self.behind, ends)
        ):
            return None
        stamps = [line[end - self.digits : end] for line, end in zip(lines, ends, strict=True)]
        if not b"".join(stamps).isdigit() or (self.ordered and any(map(ge, stamps, stamps[1:]))):
            return None
        return [line[start:] for line, start in zip(lines, self.starts, strict=True)]

    def numbers(self, texts: list[bytes]) -> tuple[Array, Array, Array] | None:
        """Mean of scalars, root mean square and badness of each row; None if a cell is missing or no number."""
        width, whole = len(self.items), b",".join(texts)
        cells = whole.split(b",")
        if len(cells) == (width + 1) * len(texts):
            width += 1  # lines end with a comma
        elif len(cells) != width * len(texts):
            return None

        def column(item: str) -> list[bytes]:
            return cells[self.items.index(item) :: width]

        unknown = np.full(len(texts), np.nan)
        bad = np.zeros(len(texts), bool)
        try:
            for item in filter(self.items.__contains__, _COUNTS):
                if set(found := column(item)) != {b"0"}:
                    bad |= np.array([int(each) != 0 for each in found])
            if any(letter in whole for letter in b"nN"):
                bad |= np.array([b"nan" in text or b"inf" in text for text in map(bytes.lower, texts)])
            mean = unknown.copy()
            if self.scalars and "avg" in self.items:
                means = column("avg")
                mean[self.scalars] = [float(means[at]) for at in self.scalars]
            norm = np.array(list(map(float, column("l2norm")))) if "l2norm" in self.items else unknown
        except ValueError:
            return None
        with np.errstate(all="ignore"):
            return mean.astype(np.float32), (norm / np.sqrt(self.counts)).astype(np.float32), bad


class Series:
    """The numbers of all steps of one rank, as far as their tables are plain.

    Args:
        tables: graph, iteration and the table's path, in order.
        root: real path of the rank's directory, which no link may leave.

    Attributes:
        steps: by graph and iteration.
        layouts: see ``Step.layout``.
        odd: directories whose tables are read as records alone, with their sizes in bytes.
    """

    def __init__(self, tables: Iterable[tuple[int, int, str]], root: str) -> None:
        self.steps: dict[tuple[int, int], Step] = {}
        self.layouts: list[Layout] = []
        self.odd: dict[tuple[int, int], int] = {}
        last: dict[int, int] = {}
        for graph, iteration, path in tables:
            try:
                data = read_bytes(path, MAX_BYTES, TreeError, inside=root)
            except TreeError:
                data = b""
            found = self._step(data, last.get(graph))
            if found is None:
                self.odd[graph, iteration] = len(data)
            else:
                last[graph] = found.layout
                self.steps[graph, iteration] = found

    def _step(self, data: bytes, last: int | None) -> Step | None:
        tried = [*([last] if last is not None else []), *range(len(self.layouts))]
        for number in tried:
            texts = self.layouts[number].texts(data)
            if texts is not None:
                break
        else:
            layout = Layout.of(data) if len(self.layouts) < _LAYOUTS else None
            texts = layout.texts(data) if layout is not None else None
            if layout is None or texts is None:
                return None
            number = len(self.layouts)
            self.layouts.append(layout)
        numbers = self.layouts[number].numbers(texts)
        return None if numbers is None else Step(number, *numbers)

    def note(self, record: Record) -> None:
        """Notes which row a record is."""
        key = record.key
        step = self.steps.get((key.graph, key.iteration))
        if step is not None and isinstance(record, RowRecord):
            self.layouts[step.layout].rows.setdefault(key[3:], record.at)

    def of(self, key: SlotKey) -> dict[int, tuple[float, float]]:
        """Mean (of a scalar) and root mean square of a slot by step; infinite where the row holds NaN or infinity."""
        found = {}
        for (graph, iteration), step in self.steps.items():
            row = self.layouts[step.layout].rows.get(key[3:]) if graph == key.graph else None
            if row is not None:
                bad = bool(step.bad[row])
                found[iteration] = (math.inf, math.inf) if bad else (float(step.mean[row]), float(step.rms[row]))
        return found

    def sizes(self, keys: Sequence[SlotKey]) -> Iterator[tuple[int, Array]]:
        """Label and root mean squares of slots, in each step of a graph; NaN where unknown."""
        rows: dict[tuple[int, int], Array] = {}
        for (graph, iteration), step in self.steps.items():
            at = rows.get((graph, step.layout))
            if at is None:
                known = self.layouts[step.layout].rows
                named = [known.get(key[3:], -1) if key.graph == graph else -1 for key in keys]
                at = rows[graph, step.layout] = np.array(named, np.int64)
            numbers = np.where(step.bad, np.inf, step.rms)[at]
            yield iteration, np.where(at < 0, np.nan, numbers)


def series_of(source: RankRecords) -> Series | None:
    """The numbers of a rank's rows; None if a directory holds anything but a table of statistics."""
    parts = source.parts()
    for _, _, path in parts:
        with os.scandir(path) as found:
            if [each.name for each in found] != [FILE]:
                return None
    return Series([(graph, iteration, os.path.join(path, FILE)) for graph, iteration, path in parts], source.root)
