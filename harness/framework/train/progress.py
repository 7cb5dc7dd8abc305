"""Shows on standard error how far a long training is: a bar on a terminal, now and then a plain line elsewhere.

Standard output stays what it is. ``MSDUMP_PROGRESS=0`` shows nothing.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, TextIO

#: seconds after which a run is long, and between plain lines
LONG, BETWEEN = 5.0, 30.0


class Progress:
    """Told of every step; does nothing for the first seconds.

    Args:
        epochs: number of the last epoch.
        steps: of all epochs together.
        stream: where to show it; None for standard error.
        clock: seconds.
    """

    def __init__(
        self, epochs: int, steps: int, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._epochs, self._steps = epochs, steps
        self._stream, self._clock = stream, clock
        self._on = os.environ.get("MSDUMP_PROGRESS") != "0"
        self._start = clock()
        self._due = self._start + LONG
        self._done = 0
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def step(self, epoch: int) -> None:
        """A step of ``epoch`` is done."""
        self._done += 1
        now = self._clock()
        if not self._on or now < self._due:
            return
        stream = self._stream or sys.stderr
        if stream.isatty():
            self._due = now
            self._show(stream, epoch)
        else:
            self._due = now + BETWEEN
            spent = now - self._start
            text = f"msdump: epoch {epoch}/{self._epochs}, step {self._done}/{self._steps}, {spent:.0f} s"
            print(text, file=stream, flush=True)

    def _show(self, stream: TextIO, epoch: int) -> None:
        if self._bar is None:
            # Most trainings are short: they need not wait for this import.
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
            self._bar = Bar(*columns, console=Console(file=stream), transient=True, redirect_stdout=False)
            self._task = self._bar.add_task("", total=self._steps)
            self._bar.start()
        self._bar.update(self._task, completed=self._done, description=f"epoch {epoch}/{self._epochs}")
