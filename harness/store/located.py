"""Says in an error where it arose: the file, the run and the place in it."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType

from harness.errors import StoreError, first_line
from harness.records import SlotKey
from harness.store.layout.index import describe_key
from harness.store.layout.schema import RunId

#: Exceptions of HDF5 and numpy for a file whose inner structure is broken.
DAMAGE = (KeyError, MemoryError, OSError, OverflowError, RuntimeError, TypeError, ValueError)


class Located:
    """See ``GoldenStore.located``. Every reading passes here, and a generator's context takes four times as long:
    so a slot is put into words only for an error."""

    __slots__ = ("_path", "_run", "_where")

    def __init__(self, path: str | os.PathLike[str], where: str | SlotKey, run: RunId | None) -> None:
        self._path, self._where, self._run = path, where, run

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            return
        path, run = Path(self._path), f"run {self._run}" if self._run else ""
        place = self._where if isinstance(self._where, str) else describe_key(self._where)
        where = "".join(f"{each}: " for each in (path, run, place) if each)
        if isinstance(error, StoreError):
            if not str(error).startswith(f"{path}: "):
                raise StoreError(f"{where}{error}") from None
        elif isinstance(error, OSError) and error.strerror:
            raise StoreError(f"{where}{error.strerror}") from error
        elif isinstance(error, DAMAGE):
            raise StoreError(f"{where}damaged ({first_line(error)})") from error
