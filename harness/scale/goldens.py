"""Golden runs that workers see; each is opened once in a thread and kept for the next part."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from functools import cached_property

from harness.errors import StoreError
from harness.records import Record, SlotKey
from harness.scale.wire import WHOLE, Golden, Part
from harness.store import GoldenStore, StoredRun


class GoldenRun:
    """A run of an open store, by parts.

    Attributes:
        run: the run.
    """

    def __init__(self, store: GoldenStore, run: StoredRun) -> None:
        self._store, self.run = store, run

    @cached_property
    def _rows(self) -> dict[tuple[int, ...], list[int]]:
        """Rows by rank, graph and iteration."""
        found: dict[tuple[int, ...], list[int]] = {}
        for row, key in enumerate(self.run.index.keys):
            found.setdefault(key[:3], []).append(row)
        return found

    def records(self, part: Part) -> Iterator[Record]:
        """The records of the iteration of a part, those of its other batches with them."""
        rows = self._rows.get(part[:3], [])
        if part.graph == WHOLE:
            of = (part.rank, part.iteration)
            rows = sorted(row for where, each in self._rows.items() if (where[0], where[2]) == of for row in each)
        return map(self.run.record, rows)

    def close(self) -> None:
        """Closes the store."""
        self._store.close()


def is_of(key: SlotKey, part: Part) -> bool:
    """Whether a slot is of the iteration of a part."""
    whole = part.graph == WHOLE
    return (key.rank, key.iteration) == (part.rank, part.iteration) if whole else key[:3] == part[:3]


def store_of(golden: Golden) -> GoldenStore | None:
    """The store, if this worker sees it and it is the driver's."""
    try:
        store = GoldenStore.open(golden.path)
    except (FileNotFoundError, StoreError):
        return None
    try:
        if store.run(*golden.run).checksum == golden.checksum:
            return store
    except StoreError:
        pass
    store.close()
    return None


_kept = threading.local()


def opened(golden: Golden) -> GoldenRun | None:
    """A run, if this worker sees it; the last one stays open until another one, or another file, is wanted."""
    try:
        facts = os.stat(golden.path)
    except OSError:
        return None
    name = golden, facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns
    last: tuple[object, GoldenRun] | None = getattr(_kept, "last", None)
    if last is not None and last[0] == name:
        return last[1]
    if last is not None:
        _kept.last = None
        last[1].close()
    store = store_of(golden)
    if store is None:
        return None
    found = GoldenRun(store, store.run(*golden.run))
    _kept.last = name, found
    return found
