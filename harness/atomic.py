"""A file is replaced whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def scratch_beside(path: Path) -> Iterator[Path]:
    """A hidden name beside ``path`` to write to; whatever is left there is removed in the end."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield scratch
    finally:
        with suppress(FileNotFoundError):
            scratch.unlink()


def sweep(path: Path) -> list[Path]:
    """Removes what killed writers of ``path`` left behind; call it under the lock. Returns what was removed."""
    removed = []
    prefix, suffix = f".{path.name}.", ".tmp"
    for name in sorted(name for name in os.listdir(path.parent) if name.startswith(prefix)):
        # Only the names ``scratch_beside`` makes: digits between prefix and suffix.
        if name.endswith(suffix) and name[len(prefix) : -len(suffix)].isdigit():
            left = path.parent / name
            left.unlink()
            removed.append(left)
    return removed


def put_in_place(scratch: Path, path: Path, *, directory: bool = True) -> bool:
    """Makes ``scratch`` the new ``path``, durably; False (and nothing done) if both hold the same bytes.

    Args:
        directory: make the new name durable too. If not, a crash of the machine may bring back the old file, whole,
            until somebody calls ``flush_directory``.
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
    """Makes the names in ``directory`` durable."""
    _flush(directory, os.O_RDONLY)


def write_atomically(path: Path, content: bytes) -> bool:
    """Replaces ``path`` by ``content``; False if it holds that already. ``OSError`` leaves the old file whole."""
    with scratch_beside(path) as scratch:
        scratch.write_bytes(content)
        return put_in_place(scratch, path)


def remove(path: Path) -> None:
    """Removes a file, durably."""
    path.unlink()
    flush_directory(path.parent)


def reason(error: OSError) -> str:
    """An operating-system error in a few words."""
    return os.strerror(error.errno) if error.errno else str(error).splitlines()[0][:200]


def _flush(path: Path, flags: int) -> None:
    """Waits until ``path`` (a file or a directory) is on the disk."""
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
