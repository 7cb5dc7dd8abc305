"""Reads the ``statistic.csv`` of many steps as arrays: of each row whether it is finite, its mean and its norm.

Steps whose rows name the same slots in the same order share a layout: of the second one on, bytes alone are compared,
and no object is made for a row.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
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
_COMMA, _LINE, _MINUS, _DOT = b",\n-."
_ZERO = np.uint8(ord("0"))
#: bytes that are compared at once
_WORD = 8
#: digits of whole numbers that float64 holds; characters of a number that are looked at together
_EXACT, _DIGITS = 15, 18
#: layouts of a graph that are followed; further ones are read as objects
_LAYOUTS = 16


class Step(NamedTuple):
    """The rows of one step of a graph.

    Attributes:
        layout: number of its layout.
        mean: of each row of one element, float32; NaN if the table has no such item.
        rms: of each row, float32; likewise.
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
        head: the first line, its end included.
        before, behind: bytes of each row before and behind its time stamp, up to the numbers.
        digits: length of each time stamp.
        signs: where each row's commas and line end begin among all of the table's, int64 [rows + 1].
        letters: how many letters n there are beside the numbers: more of them are NaN or infinity.
        counts: number of elements of each row.
        ordered: whether an operator's slot stands there twice: then rows have to be in the order of time.
        rows: slots of the rows (operator, execution, io, slot), once a step of the layout was read as records.
    """

    items: tuple[str, ...]
    head: bytes
    before: list[bytes]
    behind: list[bytes]
    digits: int
    signs: Array
    letters: int
    counts: Array
    ordered: bool
    rows: dict[tuple[str, int, str, int], int] = field(default_factory=dict)

    @cached_property
    def widths(self) -> tuple[Array, Array]:
        """Bytes of each row before its time stamp, and behind it up to the numbers; int64."""
        before, behind = (np.array(list(map(len, each)), np.int64) for each in (self.before, self.behind))
        return before, before + self.digits + behind

    @cached_property
    def words(self) -> tuple[Array, Array, Array]:
        """Every eight bytes of ``before`` and ``behind``, the last eight of each among them, as uint64; of which row
        each is, and where in it."""
        rows, offsets, texts = [], [], []
        for row, (before, behind) in enumerate(zip(self.before, self.behind, strict=True)):
            for first, text in ((0, before), (len(before) + self.digits, behind)):
                starts = [*range(0, len(text) - _WORD, _WORD), len(text) - _WORD]
                rows += [row] * len(starts)
                offsets += [first + start for start in starts]
                texts += [text[start : start + _WORD] for start in starts]
        return np.frombuffer(b"".join(texts), np.uint64), np.array(rows, np.int64), np.array(offsets, np.int64)

    @cached_property
    def cells(self) -> Array:
        """The sign that ends the first number of each row, int64."""
        fixed = [one.count(b",") + other.count(b",") for one, other in zip(self.before, self.behind, strict=True)]
        return self.signs[:-1] + np.array(fixed, np.int64)

    @cached_property
    def scalars(self) -> Array:
        """The rows of one element."""
        return np.flatnonzero(self.counts == 1)

    @cached_property
    def scalar_places(self) -> dict[int, int]:
        """Where each of ``scalars`` stands among them."""
        return {row: at for at, row in enumerate(self.scalars.tolist())}

    @classmethod
    def of(cls, data: bytes) -> Layout | None:
        """The layout of a table; None if it is not plainly one."""
        table = columns(data)
        if table is None or len({len(str(each)) for each in table.timestamps}) > 1:
            return None
        head, *lines = data.split(b"\n")[:-1]
        before, behind, signs = [], [], [0]
        for line, text in zip(lines, table.texts, strict=True):
            rest = line.split(b",", _STAMP)[-1]
            start = len(line) - len(rest)
            before.append(line[:start])
            behind.append(line[start + rest.index(b",") : line.rindex(text.encode())])
            signs.append(line.count(b",") + 1)
        if min(map(len, before + behind)) < _WORD:
            return None
        named = zip(table.op_names, table.op_types, table.ios, table.slots, strict=True)
        counts = np.array([math.prod(shape) for shape in table.shapes], np.float64)
        return cls(
            table.items, head + b"\n", before, behind, len(str(table.timestamps[0])), np.cumsum(signs),
            sum(map(_letters, (head, *before, *behind))), counts, len(set(named)) < len(lines),
        )  # fmt: skip

    def places(self, data: bytes) -> Array | None:
        """Where the commas and line ends of a table's rows are, int64; None if it has another layout."""
        if not data.startswith(self.head) or not data.endswith(b"\n"):
            return None
        skipped = len(self.head)
        whole = np.frombuffer(data, np.uint8)
        found = np.flatnonzero((whole[skipped:] == _COMMA) | (whole[skipped:] == _LINE)) + skipped
        if len(found) != self.signs[-1] or np.count_nonzero(whole == _LINE) != len(self.before) + 1:
            return None
        ends = found[self.signs[1:] - 1]
        starts = np.concatenate(([skipped], ends[:-1] + 1))
        before, fixed = self.widths
        if not (whole[ends] == _LINE).all() or (starts + fixed > ends).any():
            return None
        words, rows, offsets = self.words
        every = np.ndarray(len(data) - _WORD + 1, np.uint64, data, strides=(1,))
        if (every[starts[rows] + offsets] != words).any():
            return None
        stamps = starts + before
        texts = whole[stamps[:, None] + np.arange(self.digits)]
        if not ((texts >= ord("0")) & (texts <= ord("9"))).all():
            return None
        times = texts.view(f"S{self.digits}").reshape(-1)
        if self.ordered and (times[:-1] >= times[1:]).any():
            return None
        return found

    def numbers(self, data: bytes, places: Array) -> tuple[Array, Array, Array] | None:
        """Mean of scalars, root mean square and badness of each row; None if a cell is no number."""
        whole, rows = np.frombuffer(data, np.uint8), np.arange(len(self.before))

        def column(item: str, rows: Array) -> Array:
            ends = self.cells[rows] + self.items.index(item)
            return decimals(data, places[ends - 1] + 1, places[ends])

        bad = np.zeros(len(rows), bool)
        mean, norm = np.full(len(self.scalars), np.nan), np.full(len(rows), np.nan)
        try:
            for item in filter(self.items.__contains__, _COUNTS):
                ends = places[self.cells + self.items.index(item)]
                other = np.flatnonzero((whole[ends - 1] != ord("0")) | (whole[ends - 2] != _COMMA))
                bad[other] |= column(item, other) != 0
            if _letters(data) != self.letters:
                lines = zip(places[self.cells - 1].tolist(), places[self.signs[1:] - 1].tolist(), strict=True)
                texts = (data[start:end].lower() for start, end in lines)
                bad |= np.array([b"nan" in text or b"inf" in text for text in texts])
            if "avg" in self.items:
                mean = column("avg", self.scalars)
            if "l2norm" in self.items:
                norm = column("l2norm", rows)
        except ValueError:
            return None
        with np.errstate(all="ignore"):
            return mean.astype(np.float32), (norm / np.sqrt(self.counts)).astype(np.float32), bad


def decimals(data: bytes, starts: Array, ends: Array) -> Array:
    """The numbers, float64, whose texts are the parts of ``data`` from ``starts`` to ``ends``, as ``float`` reads them.

    Raises:
        ValueError: one is no number.
    """
    whole, lengths = np.frombuffer(data, np.uint8), ends - starts
    value, digits, behind = (np.zeros(len(starts), np.int64) for _ in range(3))
    dots = np.zeros(len(starts), bool)
    minus = whole[starts] == _MINUS
    taken = minus.astype(np.int64)
    for at in range(min(_DIGITS, int(lengths.max(initial=0)))):
        inside = lengths > at
        signs = whole[np.where(inside, starts + at, 0)]
        is_digit = inside & (signs - _ZERO < 10)  # below the zero a byte wraps around
        value = np.where(is_digit, value * 10 + (signs - _ZERO), value)
        digits += is_digit
        behind += is_digit & dots
        is_dot = inside & (signs == _DOT)
        taken += is_dot & ~dots
        dots |= is_dot
    # Whole numbers below 2**53 and powers of ten up to 10**22 are exact, so their quotient is the nearest number.
    found = np.where(minus, -1.0, 1.0) * value / 10.0**behind
    odd = np.flatnonzero((taken + digits != lengths) | (digits == 0) | (digits > _EXACT))
    texts = zip(starts[odd].tolist(), ends[odd].tolist(), strict=True)
    found[odd] = [float(data[start:end]) for start, end in texts]
    return np.asarray(found)


def _letters(data: bytes) -> int:
    signs = np.frombuffer(data, np.uint8)
    return int(np.count_nonzero(signs == ord("n")) + np.count_nonzero(signs == ord("N")))


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
            places = self.layouts[number].places(data)
            if places is not None:
                break
        else:
            layout = Layout.of(data) if len(self.layouts) < _LAYOUTS else None
            places = layout.places(data) if layout is not None else None
            if layout is None or places is None:
                return None
            number = len(self.layouts)
            self.layouts.append(layout)
        numbers = self.layouts[number].numbers(data, places)
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
                place = self.layouts[step.layout].scalar_places.get(row)
                mean = math.nan if place is None else float(step.mean[place])
                found[iteration] = (math.inf, math.inf) if step.bad[row] else (mean, float(step.rms[row]))
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
