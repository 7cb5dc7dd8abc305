"""Keeps the last golden store open, because the tests of a network follow one another and share it."""

from __future__ import annotations

import os
from pathlib import Path

from harness.store import GoldenStore

#: Bytes of tensors that stay in memory once they were read and checked.
KEPT = 64 << 20

_State = tuple[int, int, int, int, int]


class Opened:
    """Opens stores for reading; an unchanged file is not opened a second time."""

    def __init__(self) -> None:
        self._store: GoldenStore | None = None
        self._state: _State | None = None

    def open(self, path: Path) -> GoldenStore:
        """Returns the store at ``path``; callers must not close it.

        Raises:
            FileNotFoundError, StoreError: as ``GoldenStore.open``.
        """
        store = self._store
        if store is None or store.closed or store.path != path or self._state is None or self._state != _state(path):
            self.close()
            before = _state(path)
            self._store = store = GoldenStore.open(path, keep=KEPT)
            # If the file was replaced in between, we do not know which one was opened.
            self._state = before if before == _state(path) else None
        return store

    def close(self) -> None:
        """Closes what is open."""
        if self._store is not None:
            self._store.close()
        self._store = self._state = None


def _state(path: Path) -> _State | None:
    """Values that change with the file or its content."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


OPENED = Opened()
