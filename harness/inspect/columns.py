"""Long trees of statistics: every step is read as arrays, and some as records; see ``long`` for which."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.capture import Capture
from harness.capture.statistic_rows import FILE
from harness.capture.statistic_series import Series, series_of
from harness.capture.tree_records import RankRecords
from harness.inspect.long import GROWS, ROWS
from harness.inspect.run import Slot
from harness.records import Record
from harness.words import counted

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(eq=False)
class Rank:
    """One rank of a long run.

    Attributes:
        source: its records.
        series: the numbers of all its rows.
        whole: labels of the steps that are read as records.
        left: number of the others.
        bad: labels of all steps that hold NaN or infinity.
    """

    source: RankRecords
    series: Series
    whole: set[int]
    left: int
    bad: list[int]


class Columns:
    """The records of a long tree of statistics, most steps left out, and the numbers of all.

    Args:
        ranks: its ranks.
    """

    def __init__(self, ranks: list[Rank]) -> None:
        self._ranks = ranks
        self._of = {each.source.rank: each.series for each in ranks}

    def __iter__(self) -> Iterator[Record]:
        for rank in self._ranks:
            for record in rank.source.of_steps(rank.whole.__contains__):
                rank.series.note(record)
                yield record

    def of(self, slot: Slot) -> dict[int, tuple[float, float]]:
        """Mean and root mean square of a slot in every step."""
        series = self._of.get(slot.key.rank)
        return series.of(slot.key) if series is not None else {}

    def table(self, slots: Sequence[Slot]) -> tuple[list[int], Array]:
        """All steps, and the root mean square of slots in them, float32 [slots, steps]."""
        steps = sorted({label for rank in self._ranks for _, label in rank.series.steps})
        places = {label: at for at, label in enumerate(steps)}
        found = np.full((len(slots), len(steps)), np.nan, np.float32)
        for rank in self._ranks:
            own = [at for at, slot in enumerate(slots) if slot.key.rank == rank.source.rank]
            for label, numbers in rank.series.sizes([slots[at].key for at in own]):
                known = ~np.isnan(numbers)
                found[np.asarray(own, np.int64)[known], places[label]] = numbers[known]
        return steps, found

    @property
    def left(self) -> int:
        """Number of steps that are not read as records."""
        return sum(rank.left for rank in self._ranks)

    def untold(self) -> list[str]:
        """What was not looked at, as a line for each rank."""
        return [
            f"{counted(rank.left, 'step')} of a long run: not finite, mean and size of each row, and nothing else"
            + (f"; {counted(len(rank.bad), 'step')} hold NaN or infinity, from {rank.bad[0]} on" if rank.bad else "")
            for rank in self._ranks
            if rank.left
        ]


def columns_of(capture: Capture, rows: int = ROWS) -> Columns | None:
    """The columns of a capture; None unless it is a tree of plain tables with more than ``rows`` rows."""
    sources = [each for each in capture.sources if isinstance(each, RankRecords)]
    if capture.mode != "statistic" or not sources or not _is_long(sources, rows):
        return None
    found = []
    for source in sources:
        series = series_of(source)
        if series is None or sum(series.odd.values()) > _BYTES * rows:
            return None
        found.append(_rank(source, series, rows))
    return Columns(found)


#: bytes of a row, about: enough to tell short trees from long ones
_BYTES = 100


def _is_long(sources: list[RankRecords], rows: int) -> bool:
    size = 0
    for source in sources:
        for _, _, path in source.parts():
            table = os.path.join(path, FILE)
            size += os.path.getsize(table) if os.path.isfile(table) else 0
            if size > _BYTES * rows:
                return True
    return False


def _rank(source: RankRecords, series: Series, rows: int) -> Rank:
    sizes: dict[int, int] = {}
    spoilt: dict[int, bool] = {}
    for (_, label), step in series.steps.items():
        sizes[label] = sizes.get(label, 0) + len(step.bad)
        spoilt[label] = spoilt.get(label, False) or bool(step.bad.any())
    labels = sorted({*sizes, *(label for _, label in series.odd)})
    bad = [label for label in labels if spoilt.get(label)]
    whole = {label for _, label in series.odd} | set(labels[-1:])
    whole |= {max(label for of, label in series.steps if of == graph) for graph in {of for of, _ in series.steps}}
    read, last = 0, 0
    for number, label in enumerate(labels, 1):
        first = bool(bad) and bad[0] in (label, *labels[number : number + 1])
        if read < rows or number >= GROWS * last or first:
            whole.add(label)
            last = number if not first else last
            read += sizes.get(label, 0)
    seen: set[int] = set()
    for (_, label), step in series.steps.items():  # each layout's names are known by a step that is read
        if label in whole:
            seen.add(step.layout)
    for (_, label), step in series.steps.items():
        if step.layout not in seen:
            seen.add(step.layout)
            whole.add(label)
    return Rank(source, series, whole, len(labels) - len(whole), bad)
