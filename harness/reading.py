"""Opens untrusted files: only regular files of a bounded size, inside the directory they belong to.

``parsing`` turns any exception of a parser into one error that names the file.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from harness import portable
from harness.errors import HarnessError, first_line

#: Makes an error of the caller's own class from its text.
Refuse = Callable[[str], HarnessError]
Path = str | os.PathLike[str]

_SMALL = 1 << 16
#: Whether files can be opened by their names in an open directory.
_BY_FOLDER = os.open in os.supports_dir_fd and hasattr(os, "O_DIRECTORY")
_FOLDER = os.O_RDONLY | portable.BYTES | getattr(os, "O_DIRECTORY", 0)
_IN_FOLDER = os.O_RDONLY | portable.BYTES | portable.NONBLOCK | portable.NOFOLLOW
_KINDS = (
    (stat.S_ISDIR, "a directory"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device"),
)  # fmt: skip


def kind_of(mode: int) -> str:
    """The kind of a file that is not regular, in words; empty for a regular file."""
    if stat.S_ISREG(mode):
        return ""
    return next((name for test, name in _KINDS if test(mode)), "not a regular file")


def no_directory(entry: os.DirEntry[str]) -> str:
    """What an entry is that is named like a directory and is none, in words."""
    try:
        kind = kind_of(entry.stat().st_mode) or "a file"
    except OSError as error:
        kind = error.strerror or "nothing"
    return f"{'a link, which is not followed' if entry.is_symlink() else kind}, where a directory is needed"


def is_directory(path: Path, refuse: Refuse) -> bool:
    """Whether a directory is there.

    Raises:
        HarnessError: made by ``refuse`` where the system does not say: what cannot be looked at may well be one.
    """
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            return False
        raise refuse(f"{os.fspath(path)}: {error.strerror or first_line(error)}") from None
    except ValueError:  # a NUL in the name
        return False


def open_regular(path: Path, *, follow: bool = True) -> int:
    """Opens a regular file for reading; returns its descriptor.

    Args:
        follow: whether to follow a symbolic link.

    Raises:
        OSError: the file cannot be opened, or it is a pipe, a device, a socket or a directory (``EINVAL``, with the
            kind).
    """
    return open_with_status(path, follow=follow)[0]


def open_with_status(path: Path, *, follow: bool = True) -> tuple[int, os.stat_result]:
    """``open_regular``, and what the system knows of the file."""
    # Without O_NONBLOCK, opening a pipe without a writer would block for ever.
    flags = os.O_RDONLY | portable.BYTES | portable.NONBLOCK | (0 if follow else portable.NOFOLLOW)
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        if error.errno == errno.ENXIO:  # what opening a socket gives
            raise OSError(errno.EINVAL, "a socket, where a regular file is needed", os.fspath(path)) from None
        raise
    except ValueError as error:  # a NUL in the name
        raise OSError(errno.EINVAL, str(error), os.fspath(path)) from None
    status = os.fstat(descriptor)
    if kind := kind_of(status.st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, f"{kind}, where a regular file is needed", os.fspath(path))
    return descriptor, status


def open_inside(path: Path, inside: str | None, refuse: Refuse) -> tuple[int, os.stat_result]:
    """``open_with_status`` for a file of a tree; judges what was opened, because a link may have taken its place, or
    that of a directory, since it was listed.

    Args:
        inside: real path of a directory that no link may leave; by default links may lead anywhere.
        refuse: makes the error.

    Raises:
        OSError: see ``open_regular``.
        HarnessError: made by ``refuse`` if the file lies outside of ``inside``.
    """
    descriptor, status = open_with_status(path)
    if inside is not None:
        try:
            _refuse_outside(os.fspath(path), _place(descriptor, os.fspath(path)), inside, refuse)
        except BaseException:
            os.close(descriptor)
            raise
    return descriptor, status


class Folder:
    """An open directory of a tree, for opening its files. Where it lies was judged once: a file opened by its name in
    it, and not through a link, lies there as well, whatever takes the directory's place afterwards."""

    __slots__ = ("_descriptor", "_inside", "_refuse", "path")

    def __init__(self, path: str, inside: str, refuse: Refuse) -> None:
        """Opens ``path``.

        Args:
            inside: real path of a directory that no link may leave.
            refuse: makes the error.

        Raises:
            OSError: it cannot be opened, or is no directory.
            HarnessError: made by ``refuse`` if it lies outside of ``inside``.
        """
        self.path, self._inside, self._refuse = path, inside, refuse
        self._descriptor = os.open(path, _FOLDER) if _BY_FOLDER else -1
        if _BY_FOLDER:
            try:
                _refuse_outside(path, _place(self._descriptor, path), inside, refuse)
            except BaseException:
                self.close()
                raise

    def open(self, name: str) -> tuple[int, os.stat_result]:
        """``open_inside`` of the directory's entry ``name``; raises as that does."""
        if self._descriptor >= 0:
            try:
                descriptor = os.open(name, _IN_FOLDER, dir_fd=self._descriptor)
            except (OSError, ValueError):
                pass  # a link, or an error, which names the whole path if it is met again
            else:
                status = os.fstat(descriptor)
                if stat.S_ISREG(status.st_mode):
                    return descriptor, status
                os.close(descriptor)
        return open_inside(f"{self.path}{os.sep}{name}", self._inside, self._refuse)

    def close(self) -> None:
        """Closes it; a second call does nothing."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def read_bytes(path: Path, limit: int, refuse: Refuse, *, inside: str | None = None) -> bytes:
    """Reads a regular file.

    Args:
        path: path of the file.
        limit: its largest allowed size in bytes.
        refuse: makes the error.
        inside: real path of a directory that no link may leave; by default links may lead anywhere.

    Raises:
        HarnessError: made by ``refuse`` if the file is missing, not regular, too large, or a link out of ``inside``.
    """
    where = os.fspath(path)
    try:
        if inside is not None:  # before: what lies outside is not even opened
            refuse_outside(where, inside, refuse)
        descriptor, status = open_inside(where, inside, refuse)
        with open(descriptor, "rb") as file:
            size = status.st_size
            # Reading one byte more detects a growing file; some files of /proc claim to be empty.
            data = file.read(min(limit, max(size, _SMALL)) + 1) if size <= limit else None
    except OSError as error:
        raise refuse(f"{where}: {error.strerror or first_line(error)}") from None
    if data is None or len(data) > limit:
        raise refuse(f"{where}: more than {limit} bytes; larger files are not read")
    return data


def _place(descriptor: int, path: str) -> str:
    """Where an open file lies, as the system knows it; elsewhere than on Linux, where ``path`` leads."""
    try:
        place = os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        place = ""
    return place if place.startswith(os.sep) else os.path.realpath(path)


def refuse_outside(path: str, root: str, refuse: Refuse) -> None:
    """Raises an error made by ``refuse`` if ``path`` is (or goes through) a link that leaves the real path ``root``."""
    _refuse_outside(path, os.path.realpath(path), root, refuse)


def _refuse_outside(path: str, real: str, root: str, refuse: Refuse) -> None:
    if real != root and not real.startswith(root.rstrip(os.sep) + os.sep) and not _below(real, root):
        raise refuse(f"{path}: a link to {real}, outside of the tree {root}; it is not followed")


def _below(path: str, root: str) -> bool:
    """Whether ``root`` is one of the directories above ``path``: where case does not count, names do not tell."""
    above = os.path.dirname(path)
    while True:
        with suppress(OSError):
            if os.path.samefile(above, root):
                return True
        if above == os.path.dirname(above):
            return False
        above = os.path.dirname(above)


def read_json(path: Path, limit: int, refuse: Refuse, *, inside: str | None = None) -> Any:
    """Reads a JSON file; raises as ``read_bytes`` does, and for text that is not JSON."""
    return parse_json(read_bytes(path, limit, refuse, inside=inside), os.fspath(path), refuse)


def read_object(path: Path, limit: int, refuse: Refuse, *, inside: str | None = None) -> dict[str, Any]:
    """Reads a JSON file that holds an object; raises as ``read_json`` does, and for any other value."""
    found = read_json(path, limit, refuse, inside=inside)
    if not isinstance(found, dict):
        raise refuse(f"{os.fspath(path)}: holds no object")
    return found


def parse_json(data: bytes | str, where: str, refuse: Refuse) -> Any:
    """Parses a JSON text; raises an error made by ``refuse`` for anything else (also for numbers with too many
    digits)."""
    try:
        return json.loads(data)
    except RecursionError:
        raise refuse(f"{where}: not JSON that can be read: it is nested too deep") from None
    except ValueError as error:
        raise refuse(f"{where}: not JSON: {first_line(error)}") from None


@contextmanager
def parsing(where: object, refuse: Refuse) -> Iterator[None]:
    """Turns any exception inside the ``with`` block into an error made by ``refuse``; deliberate errors stay.

    Put nothing but the reading of an untrusted file inside: every exception there counts as damage to the file.
    """
    try:
        yield
    except HarnessError:
        raise
    except OSError as error:
        raise refuse(f"{where}: {error.strerror or first_line(error)}") from None
    except RecursionError:
        raise refuse(f"{where}: damaged: it is nested too deep") from None
    except MemoryError:
        raise refuse(f"{where}: it asks for more memory than there is") from None
    except Exception as error:
        raise refuse(f"{where}: damaged: {first_line(error)} ({type(error).__name__})") from None
