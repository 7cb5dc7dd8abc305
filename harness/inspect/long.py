"""Long runs of statistics: every row is looked at for NaN and infinity, and some steps are read whole.

The first steps are read until they have ``ROWS`` rows; then ever fewer, the last one, and the first one that holds NaN
or infinity with the one before it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from harness.capture.statistic_table import RowRecord
from harness.inspect.numbers import read
from harness.records import Record
from harness.words import counted

#: rows that are read whole before steps are left out
ROWS = 50_000
#: a step is read if its number is this many times that of the last one
GROWS = 2


class Thinned:
    """The records of a run without most steps, if it is long.

    Args:
        records: in order of ranks and steps.
        rows: see ``ROWS``.

    Attributes:
        left: number of steps that were left out.
        bad: labels of those that hold NaN or infinity.
    """

    def __init__(self, records: Iterable[Record], rows: int = ROWS) -> None:
        self.left = 0
        self.bad: list[int] = []
        self._records, self._rows = records, rows

    def __iter__(self) -> Iterator[Record]:
        found = itertools.groupby(self._records, key=lambda each: (each.key.rank, each.key.iteration))
        for _, steps in itertools.groupby(found, key=lambda each: each[0][0]):
            yield from self._rank(iter((label, group) for (_, label), group in steps))

    def _rank(self, steps: Iterator[tuple[int, Iterable[Record]]]) -> Iterator[Record]:
        rows, last, is_bad = 0, 0, False
        whole: set[int] = set()
        before: tuple[int, list[Record], bool] | None = None
        for number, (label, group) in enumerate(steps, 1):
            if rows < self._rows or label in whole:  # several graphs take turns within a step
                whole.add(label)
                for record in group:
                    rows += 1 if record.values is None else 0
                    yield record
                last = number
                continue
            kept = list(group)
            bad = any(map(_is_bad, kept))
            if (bad and not is_bad) or number >= GROWS * last or any(each.values is not None for each in kept):
                if before is not None and bad and not is_bad:
                    yield from before[1]
                elif before is not None:
                    self._leave(before)
                yield from kept
                whole.add(label)
                before, last = None, number
            else:
                if before is not None:
                    self._leave(before)
                before = label, kept, bad
            is_bad = is_bad or bad
        if before is not None:
            yield from before[1]

    def _leave(self, step: tuple[int, list[Record], bool]) -> None:
        self.left += 1
        if step[2]:
            self.bad.append(step[0])

    def untold(self) -> list[str]:
        """What was not looked at, as a line."""
        if not self.left:
            return []
        more = f"; {counted(len(self.bad), 'step')} of them hold some, from {self.bad[0]} on" if self.bad else ""
        return [f"{counted(self.left, 'step')} of a long run: whether a row is NaN or infinite, and nothing else{more}"]


def _is_bad(record: Record) -> bool:
    """Whether a row says NaN or infinity."""
    plain = record.is_plain() if isinstance(record, RowRecord) else None
    if plain:
        return False
    numbers = read(record)[0]
    return bool(numbers is not None and numbers.bad)
