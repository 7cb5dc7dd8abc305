"""Shows a bar on a terminal while the records of a capture or of a stored run are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from harness.compare import HasRecords
from harness.compare.check import HasRows
from harness.progress import progress_over
from harness.records import Record, Rows


class Watched:
    """Records that show a bar while they are read for the first time.

    Args:
        content: the object that has the records.
        name: name of the network.
        listed: the number of records known so far; 0 if it is unknown.
    """

    def __init__(self, content: HasRecords, name: str, listed: Callable[[], int]) -> None:
        self._content, self._name, self._listed = content, name, listed
        self._seen = False

    def as_rows(self) -> Rows | None:
        """The records as columns, if they can be read so."""
        return self._content.as_rows() if isinstance(self._content, HasRows) else None

    def records(self) -> Iterator[Record]:
        """The records, in order."""
        again, self._seen = self._seen, True
        records = self._content.records()
        return iter(records) if again else watched(records, self._name, self._listed)


def watched(records: Iterable[Record], name: str, listed: Callable[[], int]) -> Iterator[Record]:
    """Iterates ``records`` and shows a bar meanwhile; the other arguments are those of ``Watched``."""
    return progress_over(
        records, lambda record: f"{name} iteration {record.key.iteration}", lambda: listed() or None, "slots"
    )
