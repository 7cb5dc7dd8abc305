"""How far shared work is: one bar on a terminal, a line now and then in a log."""

from __future__ import annotations

import sys
import time
from typing import Any

from harness.escape import line as plain
from harness.escape import raw

#: Seconds between two lines in a log; between two looks at the bar.
_LINES, _BAR = 30.0, 0.1


class Progress:
    """Tells on stderr what was done: bytes, ranks, differences so far."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._task: Any = None
        self._total = self._done = self._differences = self._ranks = 0
        self._due = time.monotonic() + _LINES

    def line(self, text: str) -> None:
        """A line of its own."""
        print(f"msdump: {plain(text)}", file=sys.stderr)

    def begin(self, size: int, ranks: int) -> None:
        """Says how much is to be done, in bytes and ranks."""
        self._total, self._ranks, self._done, self._differences = size, ranks, 0, 0
        if not sys.stderr.isatty():
            return
        self.close()
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeElapsedColumn())
        self._bar = Bar(*columns, console=Console(file=raw(sys.stderr)), transient=True, auto_refresh=False)
        self._bar.start()
        self._task = self._bar.add_task(self._text(), total=size)

    def step(self, size: int, differences: int) -> None:
        """So many more bytes were read, and so many slots differ."""
        self._done += size
        self._differences += differences
        now = time.monotonic()
        if now < self._due:
            return
        if self._bar is not None:
            self._due = now + _BAR
            self._bar.update(self._task, completed=self._done, description=self._text(), refresh=True)
        else:
            self._due = now + _LINES
            self.line(f"{self._done >> 20} of {self._total >> 20} MiB, {self._text()}")

    def _text(self) -> str:
        return f"{self._ranks} ranks, {self._differences} slots differ"

    def close(self) -> None:
        """Takes the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
