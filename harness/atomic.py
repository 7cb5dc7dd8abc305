"""Replaces files whole or not at all, by one writer at a time; the next writer removes what a killed process left.

A process holds a lock (``flock``) on its unfinished files: a file without a lock is abandoned.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from harness import portable
from harness.errors import LockError, StoreWriteError

try:
    from fcntl import LOCK_EX, LOCK_NB, flock
except ImportError:  # Windows
    flock = None  # type: ignore[assignment]


@contextmanager
def scratch_beside(path: Path) -> Iterator[Path]:
    """Gives a hidden name beside ``path`` to write to, and removes what is left there in the end."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield scratch
    finally:
        with suppress(FileNotFoundError):
            scratch.unlink()


def remove_leftovers(path: Path) -> list[Path]:
    """Removes the files that killed writers of ``path`` left; call it while holding the lock. Returns the removed
    paths."""
    removed = []
    prefix, suffix = f".{path.name}.", ".tmp"
    for name in sorted(name for name in os.listdir(path.parent) if name.startswith(prefix)):
        # Only the names ``scratch_beside`` makes: digits between prefix and suffix.
        if name.endswith(suffix) and name[len(prefix) : -len(suffix)].isdigit():
            left = path.parent / name
            left.unlink()
            removed.append(left)
    return removed


def create_held(path: Path, mode: int = 0o666) -> int:
    """Makes an empty file at ``path`` and opens it for writing; ``sweep_abandoned`` spares it while it is open."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | portable.BYTES | portable.NOFOLLOW, mode)
        try:
            _hold(descriptor)
            # Another process may have swept it between the two calls; then the file is no longer ours.
            if os.fstat(descriptor).st_nlink:
                os.ftruncate(descriptor, 0)
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def write_held(path: Path, content: bytes) -> None:
    """Replaces ``path`` by ``content``, whole or not at all, without a lock on it; if several write at once, the last
    one wins."""
    sweep_abandoned(path)
    with scratch_beside(path) as scratch:
        with open(create_held(scratch), "wb") as file:
            file.write(content)
        os.replace(scratch, path)


def sweep_abandoned(path: Path) -> None:
    """Like ``remove_leftovers``, but without a lock on ``path``: spares the files of living processes (see
    ``create_held``)."""
    prefix, suffix = f".{path.name}.", ".tmp"
    with suppress(OSError):
        for name in os.listdir(path.parent):
            if name.startswith(prefix) and name.endswith(suffix) and name[len(prefix) : -len(suffix)].isdigit():
                _remove_abandoned(path.parent / name)


_BROKEN = re.compile(r"\.(?:.+\.h5|goldens)\.lock\.break\.(\d{1,10})\.[0-9a-f]+")
_PART = re.compile(r"\.(\d{1,10})-[0-9a-f]{8}\.part")


def part_name() -> str:
    """A hidden file name that holds this process's id; ``sweep_parts`` removes the files of dead processes."""
    return f".{os.getpid()}-{secrets.token_hex(4)}.part"


def sweep_parts(directory: str | int) -> None:
    """Removes files named by ``part_name`` that killed writers left in a directory (a path or a descriptor)."""
    descriptor = directory if isinstance(directory, int) else None
    with suppress(OSError):
        for name in os.listdir(directory):
            found = _PART.fullmatch(name)
            if found and not _is_alive(int(found[1])):
                os.unlink(name if isinstance(directory, int) else os.path.join(directory, name), dir_fd=descriptor)


def sweep_broken_lock(path: Path) -> None:
    """Removes a file that filelock names when it breaks the lock of a dead process, if it was killed over that."""
    found = _BROKEN.fullmatch(path.name)
    if found and not _is_alive(int(found[1])):
        with suppress(OSError):
            path.unlink()


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


@contextmanager
def temporary_directory(prefix: str, top: Path | None = None) -> Iterator[Path]:
    """Gives a new directory, and removes it afterwards. First it removes those of killed processes.

    Args:
        prefix: beginning of its name, the same in every run of a command.
        top: where to make it; None for the system's temporary directory.

    Raises:
        OSError: the directory cannot be made.
    """
    top = Path(tempfile.gettempdir()) if top is None else top
    _sweep_directories(top, prefix)
    folder = top / f"{prefix}{secrets.token_hex(6)}"
    held = create_held(_lock_of(folder), 0o600)
    try:
        folder.mkdir(0o700)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(FileNotFoundError):
            _lock_of(folder).unlink()
        os.close(held)


def _lock_of(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.lock")


def _sweep_directories(top: Path, prefix: str) -> None:
    with suppress(OSError):
        for name in os.listdir(top):
            if name.startswith(prefix) and name.endswith(".lock"):
                _remove_abandoned(top / name, top / name.removesuffix(".lock"))


def _remove_abandoned(left: Path, folder: Path | None = None) -> None:
    """Removes one of our files that no process holds, and the directory it stands for."""
    with suppress(OSError):
        descriptor = os.open(left, os.O_RDONLY | portable.BYTES | portable.NOFOLLOW | portable.NONBLOCK)
        try:
            if portable.own(os.fstat(descriptor)) and _hold(descriptor):
                if folder is not None and folder.is_dir() and not folder.is_symlink():
                    shutil.rmtree(folder, ignore_errors=True)
                left.unlink()
        finally:
            os.close(descriptor)


def _hold(descriptor: int) -> bool:
    """Locks an open file; False if another process holds the lock, or the file system has no locks."""
    if flock is None:
        return False
    try:
        flock(descriptor, LOCK_EX | LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EAGAIN, errno.EACCES, *_NO_LOCKS):
            raise
        return False
    return True


def put_in_place(scratch: Path, path: Path, *, directory: bool = True) -> bool:
    """Renames ``scratch`` to ``path``, durably; does nothing and returns False if both hold the same bytes.

    Args:
        directory: make the new name durable too. Without it, a crash of the machine may bring back the whole old file,
            until ``flush_directory`` was called.
    """
    if path.exists():
        import filecmp

        if filecmp.cmp(scratch, path, shallow=False):
            return False
    _flush(scratch, os.O_RDWR)
    os.replace(scratch, path)
    if directory:
        flush_directory(path.parent)
    return True


def flush_directory(directory: Path) -> None:
    """Makes the file names in ``directory`` durable."""
    _flush(directory, os.O_RDONLY)


def write_atomically(path: Path, content: bytes, *, directory: bool = True) -> bool:
    """Replaces ``path`` by ``content``; False if it holds the same bytes already. ``OSError`` leaves the old file
    whole.

    Args:
        directory: as for ``put_in_place``.
    """
    with scratch_beside(path) as scratch:
        scratch.write_bytes(content)
        return put_in_place(scratch, path, directory=directory)


def remove(path: Path) -> None:
    """Removes a file, durably."""
    path.unlink()
    flush_directory(path.parent)


def reason(error: OSError) -> str:
    """The reason of an operating-system error in a few words."""
    return os.strerror(error.errno) if error.errno else str(error).splitlines()[0][:200]


def _flush(path: Path, flags: int) -> None:
    """Waits until the disk has ``path`` (a file or a directory)."""
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# --- one writer at a time: a free lock is taken directly, by the same ``flock`` on the same file that filelock uses;
# filelock, whose import costs more than writing a small store, is used only to wait ---

#: Seconds that a writer waits for another one.
DEFAULT_TIMEOUT = 60.0
#: What ``flock`` says where a file system has none.
_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)


class _NoLocksError(Exception):
    """This file system has no ``flock``."""


def lock_path(path: Path) -> Path:
    """The lock file of a store: hidden, beside it."""
    return path.with_name(f".{path.name}.lock")


@contextmanager
def writer_lock(path: Path, timeout: float = DEFAULT_TIMEOUT) -> Iterator[None]:
    """Holds the writer's lock of the store at ``path``, and removes the lock file afterwards.

    The operating system releases the lock of a killed process.

    Raises:
        LockError: another process held it for ``timeout`` seconds.
        StoreWriteError: the lock file cannot be made.
    """
    beside, soft = lock_path(path), False
    try:
        descriptor = _take_free(beside)
    except _NoLocksError:
        descriptor, soft = None, True
    except OSError as error:
        raise StoreWriteError(f"{path}: cannot lock it for writing ({reason(error)})") from error
    release = partial(os.close, descriptor) if descriptor is not None else _wait(path, beside, timeout, soft)
    try:
        yield
    finally:
        if not soft:  # there the file is the lock: its release removes it
            # While it is still held: whoever waits on the removed file notices and starts over with a new one.
            _discard(beside)
        try:
            release()
        except OSError:  # what was written stands; if its file stays, the next writer waits and is told its name
            _discard(beside)


def _discard(path: Path) -> None:
    """Removes a file whose removal is no condition of anything; where the system fails once, it is asked again."""
    for _ in range(2):
        with suppress(OSError):
            path.unlink(missing_ok=True)
            return


def _take_free(beside: Path) -> int | None:
    """The open lock file, locked; None where it is not free, or there is no ``flock`` in this system."""
    if flock is None:
        return None
    descriptor, made = _open_lock(beside)
    try:
        flock(descriptor, LOCK_EX | LOCK_NB)
        # The previous holder may have removed the file after we opened it: then it is not a lock any more.
        if os.fstat(descriptor).st_nlink:
            return descriptor
    except OSError as error:
        if error.errno in _NO_LOCKS:
            if made:  # it would be taken for the lock of a living process
                with suppress(OSError):
                    os.unlink(beside)
            os.close(descriptor)
            raise _NoLocksError from None
        # else it is held: filelock waits
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


def _open_lock(beside: Path) -> tuple[int, bool]:
    """The lock file, open, and whether it was made here."""
    flags = os.O_RDWR | portable.NOFOLLOW | portable.NONBLOCK | os.O_CREAT
    try:
        return os.open(beside, flags | os.O_EXCL, 0o644), True
    except FileExistsError:
        return os.open(beside, flags, 0o644), False


def _wait(path: Path, beside: Path, timeout: float, soft: bool) -> Callable[[], object]:
    """Takes the lock through filelock; returns the lock, which releases itself.

    Args:
        soft: the lock is that the file exists; one that a killed process of this machine left is removed.
    """
    from filelock import FileLock, SoftFileLock, Timeout

    lock = (SoftFileLock if soft else FileLock)(beside, timeout=timeout)
    try:
        lock.acquire()
    except Timeout:
        raise LockError(
            f"{path}: another process has been writing this store for {timeout:g} s (it holds {beside.name})"
        ) from None
    except OSError as error:
        raise StoreWriteError(f"{path}: cannot lock it for writing ({reason(error)})") from error
    return lock.release
