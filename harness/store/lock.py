"""One writer at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from harness.errors import LockError, StoreWriteError

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
    from filelock import FileLock, Timeout  # only writers need it

    beside = lock_path(path)
    lock = FileLock(beside, timeout=timeout)
    try:
        lock.acquire()
    except Timeout:
        raise LockError(
            f"{path}: another process has been writing this store for {timeout:g} s (it holds {beside.name})"
        ) from None
    except OSError as error:
        raise StoreWriteError(f"{path}: cannot lock it for writing: {error}") from error
    try:
        yield
    finally:
        # While it is still held: whoever waits on the removed file notices and starts over with a new one.
        with suppress(OSError):
            beside.unlink()
        lock.release()
