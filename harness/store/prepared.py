"""Values whose stored form another process has made already."""

from __future__ import annotations

from abc import abstractmethod

from harness.records import Streamed
from harness.store.layout.objects import Stored
from harness.store.layout.schema import Compression


class Prepared(Streamed):
    """Values that may come in their stored form, checked by whoever made it."""

    __slots__ = ()

    @abstractmethod
    def stored(self, compression: Compression) -> Stored | None:
        """The stored form, as ``objects.to_stored`` makes it of the values; None if nobody made it."""
