"""Shows the progress of long work on standard error: a bar on a terminal; elsewhere nothing, or a plain line now and
then.

Standard output is not touched. ``MSDUMP_PROGRESS=0`` turns progress off.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from types import TracebackType
from typing import Any, TextIO, TypeVar

from harness.escape import line as plain
from harness.escape import raw

T = TypeVar("T")
Total = int | Callable[[], int | None] | None

SOON = 0.5
"""Seconds before a bar appears, so that short work need not wait for the import of rich."""
BETWEEN = 30.0
"""Seconds between two plain lines."""
_EVERY = 0.1
"""Seconds between two updates of the bar."""


class Progress:
    """Shows the progress of one piece of work.

    Args:
        what: what the work is, in words; ``step`` may replace it.
        total: the amount of work, or a function that gives the amount known so far; None if it is unknown.
        unit: name of what is counted; ``bytes`` are shown as KiB, MiB and so on.
        after: seconds before anything appears.
        lines: whether a stream that is not a terminal gets a plain line every ``BETWEEN`` seconds.
        stream: where to show it; None for standard error.
        clock: gives the time in seconds.
    """

    def __init__(
        self,
        what: str = "",
        total: Total = None,
        unit: str = "",
        *,
        after: float = SOON,
        lines: bool = False,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = raw(stream or sys.stderr)
        self._clock = clock
        self._terminal = self._stream.isatty()
        self._on = (self._terminal or lines) and os.environ.get("MSDUMP_PROGRESS") != "0"
        self._after = after
        self._bar: Any = None
        self.begin(what, total, unit)

    def begin(self, what: str, total: Total = None, unit: str = "") -> None:
        """Begins another piece of work: ``what``, ``total`` and ``unit`` as for ``Progress``."""
        self.close()
        self._what, self._total, self._unit = what, total, unit
        self._done = 0
        self._start = self._clock() if self._on else 0.0
        self._due = self._start + self._after

    def step(self, done: int = 1, what: str | None = None) -> None:
        """Adds ``count`` to the finished work; ``what`` names the current part."""
        self._done += done
        if not self._on:
            return
        if what is not None:
            self._what = what
        now = self._clock()
        if now < self._due:
            return
        if self._terminal:
            self._due = now + _EVERY
            self._draw()
        else:
            self._due = now + BETWEEN
            self.line(f"{self._what}, {self._amount()}, {now - self._start:.0f} s")

    def line(self, text: str) -> None:
        """Prints a line, above the bar if there is one."""
        said = f"msdump: {plain(text)}"
        if self._bar is None:
            print(said, file=self._stream, flush=True)
        else:
            self._bar.console.print(said, markup=False, highlight=False, soft_wrap=True)

    def over(self, items: Iterable[T], what: Callable[[T], str] | None = None) -> Iterator[T]:
        """Iterates ``items`` and counts an item as done when the next is requested. ``what`` names the next item."""
        if not self._on:
            yield from items
            return
        with self:
            for item in items:
                if what is not None:
                    self.step(0, what(item))
                yield item
                self.step()

    def each(self, items: Iterable[T], what: str, count: int) -> Iterator[T]:
        """Iterates ``items``, the ``count`` parts of one item of ``over``; the description numbers them."""
        if not self._on:
            yield from items
            return
        for at, item in enumerate(items, 1):
            self.step(0, f"{what}: {at} of {count}")
            yield item

    def close(self) -> None:
        """Removes the bar."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _amount(self) -> str:
        done, total = self._done, self._all()
        if self._unit == "bytes":
            of = "" if total is None else f" of {total >> 20}"
            return f"{done >> 20}{of} MiB"
        of = "" if total is None else f"/{total}"
        return f"{self._unit} {done}{of}".strip()

    def _all(self) -> int | None:
        return self._total() if callable(self._total) else self._total

    def _draw(self) -> None:
        told = plain(self._what)
        if self._bar is None:
            self._bar = _bar(self._stream, self._unit)
            self._task = self._bar.add_task(told, total=self._all(), completed=self._done)
            self._bar.start()
        self._bar.update(self._task, completed=self._done, total=self._all(), description=told, refresh=True)


def _bar(stream: TextIO, unit: str) -> Any:
    """A bar on ``stream``, not yet shown."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.table import Column

    amount = [DownloadColumn()] if unit == "bytes" else [MofNCompleteColumn(), TextColumn(unit, markup=False)]
    return Progress(
        # A long name is cut at the end; without this, rich omits it completely.
        TextColumn("{task.description}", markup=False, table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis")),
        BarColumn(bar_width=20), *amount,
        TimeElapsedColumn(), TimeRemainingColumn(),
        console=Console(file=stream), transient=True, auto_refresh=False, expand=True,
        # rich would send what goes to standard output to the bar's stream.
        redirect_stdout=False, redirect_stderr=False,
    )  # fmt: skip


def progress_over(
    items: Iterable[T],
    what: str | Callable[[T], str],
    total: Total = None,
    unit: str = "",
) -> Iterator[T]:
    """Iterates ``items`` and shows a bar on a terminal meanwhile.

    Args:
        items: the items to work on.
        what: what the work is, in words; or a function that gives this for the next item.
        total: as for ``Progress``; None for ``len(items)`` if they have a length.
        unit: name of the items, in the plural.
    """
    if total is None and isinstance(items, Sized):
        total = len(items)
    said = "" if callable(what) else what
    return Progress(said, total, unit).over(items, what if callable(what) else None)
