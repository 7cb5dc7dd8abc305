"""One writer at a time.

A lock that is free is taken here, by the same ``flock`` of the same file that filelock uses; filelock, whose import and
bookkeeping cost more than a small store, is asked where there is somebody to wait for, and where there is no ``flock``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from harness.errors import LockError, StoreWriteError

try:
    from fcntl import LOCK_EX, LOCK_NB, flock
except ImportError:  # Windows
    flock = None  # type: ignore[assignment]

#: Seconds a writer waits for another one.
DEFAULT_TIMEOUT = 60.0


def lock_path(path: Path) -> Path:
    """The lock file of a store: hidden, beside it."""
    return path.with_name(f".{path.name}.lock")


@contextmanager
def writer_lock(path: Path, timeout: float = DEFAULT_TIMEOUT) -> Iterator[None]:
    """Holds the writer's lock of the store at ``path``; the lock file is gone afterwards.

    A killed holder's lock is released by the operating system.

    Raises:
        LockError: another process held it for ``timeout`` seconds.
        StoreWriteError: the lock file cannot be made.
    """
    beside = lock_path(path)
    try:
        descriptor = _take_free(beside)
    except OSError as error:
        raise StoreWriteError(f"{path}: cannot lock it for writing: {error}") from error
    release = partial(os.close, descriptor) if descriptor is not None else _wait(path, beside, timeout)
    try:
        yield
    finally:
        # While it is still held: whoever waits on the removed file notices and starts over with a new one.
        with suppress(OSError):
            os.unlink(beside)
        release()


def _take_free(beside: Path) -> int | None:
    """The open lock file, locked; None where it is not free, or there is no ``flock``."""
    if flock is None:
        return None
    descriptor = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
    try:
        flock(descriptor, LOCK_EX | LOCK_NB)
        # The holder before may have removed the file after it was opened here: then it is no lock any more.
        if os.fstat(descriptor).st_nlink:
            return descriptor
    except OSError:
        pass  # held, or not supported by this file system: filelock knows what to do
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


def _wait(path: Path, beside: Path, timeout: float) -> Callable[[], object]:
    """Takes the lock by filelock; gives what releases it."""
    from filelock import FileLock, Timeout

    lock = FileLock(beside, timeout=timeout)
    try:
        lock.acquire()
    except Timeout:
        raise LockError(
            f"{path}: another process has been writing this store for {timeout:g} s (it holds {beside.name})"
        ) from None
    except OSError as error:
        raise StoreWriteError(f"{path}: cannot lock it for writing: {error}") from error
    return lock.release
