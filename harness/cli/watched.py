"""The records of a capture, with a bar on a terminal while they are read."""

from __future__ import annotations

from collections.abc import Iterator

from harness.capture import Capture
from harness.progress import progress_over
from harness.records import Record


class Watched:
    """The records of a capture, with a bar while they are read for the first time."""

    def __init__(self, capture: Capture) -> None:
        self._capture = capture
        self._seen = False

    def records(self) -> Iterator[Record]:
        """The records, in order."""
        again, self._seen = self._seen, True
        return self._capture.records() if again else watched(self._capture)


def watched(capture: Capture) -> Iterator[Record]:
    """The records of ``capture``, with a bar while they go by."""
    name = capture.network
    return progress_over(
        capture.records(), lambda record: f"{name} iteration {record.key.iteration}", capture.listed() or None, "slots"
    )
