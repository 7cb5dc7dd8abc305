"""How far a command is, shown to whoever watches it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

from harness.capture import Capture
from harness.escape import line, raw
from harness.records import Record

_EVERY = 0.1
"""Seconds between two looks at the bar."""


class Watched:
    """The records of a capture, with a bar while they are read for the first time."""

    def __init__(self, capture: Capture) -> None:
        self._capture = capture
        self._seen = False

    def records(self) -> Iterator[Record]:
        """The records, in order."""
        again, self._seen = self._seen, True
        return self._capture.records() if again else shown(self._capture)


def shown(capture: Capture) -> Iterator[Record]:
    """The records of ``capture``; on a terminal with a bar on stderr while they go by."""
    records = capture.records()
    if not sys.stderr.isatty():
        yield from records
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("slots"),
        TimeElapsedColumn(), TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=Console(file=raw(sys.stderr)), transient=True, auto_refresh=False) as progress:
        task = progress.add_task(line(capture.network), total=None)
        due = 0.0
        for done, record in enumerate(records):
            if (now := time.monotonic()) >= due:
                due = now + _EVERY
                where = f"{line(capture.network)} iteration {record.key.iteration}"
                progress.update(task, completed=done, total=capture.listed() or None, description=where, refresh=True)
            yield record
