"""Keeps the last golden store open, because the tests of a network follow one another and share it."""

from __future__ import annotations

import os

from harness.store import GoldenStore

#: Bytes of tensors that stay in memory once they were read and checked.
KEPT = 64 << 20

_State = tuple[int, int, int, int, int]


class Opened:
    """Opens stores for reading; an unchanged file is not opened a second time."""

    def __init__(self) -> None:
        self._store: GoldenStore | None = None
        self._path: str | os.PathLike[str] = ""
        self._state: _State | None = None

    def open(self, path: str | os.PathLike[str]) -> GoldenStore:
        """Returns the store at ``path``; callers must not close it.

        Raises:
            FileNotFoundError, StoreError: as ``GoldenStore.open``.
        """
        store, before = self._store, _state(path)
        if store is None or store.closed or self._path != path or self._state is None or self._state != before:
            self.close()
            store = self._store = GoldenStore.open(path, keep=KEPT)
            self._path = path
            # If the file was replaced in between, we do not know which one was opened.
            self._state = before if before == _state(path) else None
        return store

    def close(self) -> None:
        """Closes what is open."""
        if self._store is not None:
            self._store.close()
        self._store = self._state = None


def _state(path: str | os.PathLike[str]) -> _State | None:
    """Values that change with the file or its content."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


OPENED = Opened()
