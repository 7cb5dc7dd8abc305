"""What some systems lack, under one name everywhere: flags of ``os.open`` that are 0 there, and reads and writes at an
offset."""

from __future__ import annotations

import os
from threading import Lock
from typing import Any

__all__ = ["BYTES", "NOFOLLOW", "NONBLOCK", "own", "pread", "preadv", "pwrite"]

#: what every file is opened with: other programs do not get it, and bytes stay as they are (Windows changes line ends)
BYTES: int = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
#: Where it is 0, a symbolic link is followed.
NOFOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
NONBLOCK: int = getattr(os, "O_NONBLOCK", 0)
_moving = Lock()


def own(status: os.stat_result) -> bool:
    """Whether this process's user owns a file; true where files have no numbers of users."""
    return not hasattr(os, "geteuid") or status.st_uid == os.geteuid()


def _read_at(descriptor: int, size: int, offset: int) -> bytes:
    """``os.pread``, for systems without: one thread at a time, because it moves where the file is read."""
    with _moving:
        os.lseek(descriptor, offset, os.SEEK_SET)
        return os.read(descriptor, size)


def _read_into(descriptor: int, buffers: list[Any], offset: int) -> int:
    """``os.preadv`` of one buffer, likewise."""
    (view,) = buffers
    found = _read_at(descriptor, len(view), offset)
    view[: len(found)] = memoryview(found)
    return len(found)


def _write_at(descriptor: int, data: Any, offset: int) -> int:
    """``os.pwrite``, likewise."""
    with _moving:
        os.lseek(descriptor, offset, os.SEEK_SET)
        return os.write(descriptor, data)


def pread(descriptor: int, size: int, offset: int) -> bytes:
    """Reads at most ``size`` bytes at ``offset``."""
    return os.pread(descriptor, size, offset) if hasattr(os, "pread") else _read_at(descriptor, size, offset)


def preadv(descriptor: int, buffers: list[Any], offset: int) -> int:
    """Reads into a buffer at ``offset``; gives the number of bytes."""
    if hasattr(os, "preadv"):
        return os.preadv(descriptor, buffers, offset)
    return _read_into(descriptor, buffers, offset)


def pwrite(descriptor: int, data: Any, offset: int) -> int:
    """Writes at ``offset``; gives the number of bytes."""
    return os.pwrite(descriptor, data, offset) if hasattr(os, "pwrite") else _write_at(descriptor, data, offset)
