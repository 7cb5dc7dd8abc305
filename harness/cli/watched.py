"""The records of a capture or of a stored run, with a bar on a terminal while they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from harness.compare import HasRecords
from harness.compare.check import HasRows
from harness.progress import progress_over
from harness.records import Record, Rows


class Watched:
    """Records with a bar while they are read for the first time.

    Args:
        content: what has them.
        name: of the network.
        listed: how many there are, as far as is known; 0 for nobody knows.
    """

    def __init__(self, content: HasRecords, name: str, listed: Callable[[], int]) -> None:
        self._content, self._name, self._listed = content, name, listed
        self._seen = False

    def as_rows(self) -> Rows | None:
        """The records as columns, where they can be had so."""
        return self._content.as_rows() if isinstance(self._content, HasRows) else None

    def records(self) -> Iterator[Record]:
        """The records, in order."""
        again, self._seen = self._seen, True
        records = self._content.records()
        return iter(records) if again else watched(records, self._name, self._listed)


def watched(records: Iterable[Record], name: str, listed: Callable[[], int]) -> Iterator[Record]:
    """``records`` with a bar while they go by; the other arguments are those of ``Watched``."""
    return progress_over(
        records, lambda record: f"{name} iteration {record.key.iteration}", lambda: listed() or None, "slots"
    )
