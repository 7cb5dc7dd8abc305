"""The file HDF5 writes to, which never tells HDF5 of a full disk.

libhdf5 can crash the process when it closes a file it could not flush (seen with 2.0.0 under RLIMIT_FSIZE). So it
writes through this object: the first failed write is remembered, everything after it is dropped, and HDF5 closes in
peace; then ``Sink.close`` raises what happened.
"""

from __future__ import annotations

import os
from pathlib import Path


class Sink:
    """A file for writing, as h5py's file-object driver wants it.

    Attributes:
        error: the first failure; None while there was none.
    """

    def __init__(self, path: Path) -> None:
        self.error: OSError | None = None
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | getattr(os, "O_CLOEXEC", 0), 0o666)
        self._at = 0
        self._size = 0

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Moves to ``offset`` (from the end, for ``SEEK_END``)."""
        self._at = offset + (self._size if whence == os.SEEK_END else 0)
        return self._at

    def tell(self) -> int:
        """The current place."""
        return self._at

    def readinto(self, buffer: memoryview) -> int:
        """Fills ``buffer``; what was dropped, or never written, reads as zeros."""
        got = os.preadv(self._descriptor, [buffer], self._at)
        buffer[got:] = bytes(len(buffer) - got)
        self._at += len(buffer)
        return len(buffer)

    def write(self, buffer: memoryview) -> int:
        """Writes ``buffer`` at the current place, or drops it once a write has failed."""
        view, done = memoryview(buffer).cast("B"), 0
        try:
            while self.error is None and done < len(view):
                done += os.pwrite(self._descriptor, view[done:], self._at + done)
        except OSError as error:
            self.error = error
        self._at += len(view)
        self._size = max(self._size, self._at)
        return len(view)

    def truncate(self, size: int) -> int:
        """Makes the file ``size`` bytes long."""
        try:
            if self.error is None:
                os.ftruncate(self._descriptor, size)
        except OSError as error:
            self.error = error
        self._size = size
        return size

    def flush(self) -> None:
        """Nothing is buffered here."""

    def check(self) -> None:
        """Raises the first failure, if there was one."""
        if self.error is not None:
            raise self.error

    def close(self) -> None:
        """Closes the file; raises the first failure, if there was one."""
        if self._descriptor >= 0:
            descriptor, self._descriptor = self._descriptor, -1
            os.close(descriptor)
        self.check()
