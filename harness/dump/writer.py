"""Files of a dump tree: each appears whole under its final name or not at all, even if the process is killed.

A file is written under a hidden temporary name (``.<process>-<n>.part``) in its own directory and renamed. Nothing is
flushed to the disk itself: a killed process loses nothing, a power failure may lose the latest files. Files end with
mode 0400, directories are made with 0700 (both as the original; the umask applies to directories).
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from harness import log, portable
from harness.atomic import part_name, sweep_parts
from harness.dtypes import DType
from harness.dump import npy
from harness.dump.names import MAX_MAPPED_NUMBER, MAX_NAME_BYTES
from harness.errors import DumpWriteError

Array = np.ndarray[Any, np.dtype[Any]]
Buffer = bytes | memoryview

FILE_MODE = 0o400
DIRECTORY_MODE = 0o700
MAPPING = "mapping.csv"

# A path that cannot be created is not an error of the run (measured: ERROR lines, exit code 0).
_REFUSALS = frozenset(
    {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.ELOOP}
)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | portable.BYTES | portable.NOFOLLOW
_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND | portable.BYTES | portable.NOFOLLOW
_MOST_BUFFERS = 1024
"""Number of buffers the system accepts in one call; the rest is written one by one."""
_log = log.get("dump.writer")


def _failure(path: str, error: OSError) -> DumpWriteError:
    """The only error that stops a run: it names the file and the reason, and says that written files stay."""
    reason = error.strerror or str(error)
    text = f"a dump file could not be written ({reason}); files written before are whole"
    return DumpWriteError(error.errno or errno.EIO, text, path)


class Tree:
    """A directory tree that is made as it is written.

    Args:
        root: absolute path of its top; nothing outside is touched.
        named_anew: whether the next run writes to directories of other names. Then unfinished files lie in ``root``,
            where that run finds and removes those of a killed one; else each lies beside what it becomes.
    """

    def __init__(self, root: str, *, named_anew: bool = False) -> None:
        self.root = root
        self._named_anew, self._swept = named_anew, False
        self.begun = False
        self._refused: set[str] = set()

    def open(self, *parts: str) -> Directory | None:
        """The directory ``root/parts...``, made with its missing parents.

        Returns:
            The directory; None if it cannot be made (the reason is logged once).

        Raises:
            DumpWriteError: the disk is full or broken.
        """
        path = os.path.join(self.root, *parts)
        if any(path == refused or path.startswith(f"{refused}/") for refused in self._refused):
            return None
        try:
            _make_directories(path)
            return Directory(path, self)
        except OSError as error:
            self.refuse(path, error)
            return None

    def part(self, directory: int) -> str:
        """The name of an unfinished file of an open directory, relative to it, or a whole path; removes what killed
        processes left there."""
        if not self._named_anew:
            sweep_parts(directory)
            return part_name()
        if not self._swept:  # once: the top may hold a directory for each of very many steps
            sweep_parts(self.root)
            self._swept = True
        return os.path.join(self.root, part_name())

    def refuse(self, path: str, error: OSError) -> None:
        """Gives up ``path`` and everything below it, with one line in the log.

        Raises:
            DumpWriteError: the disk failed, not the path. A disk that becomes read-only after something was written
                counts as failed.
        """
        if error.errno not in _REFUSALS or (self.begun and error.errno == errno.EROFS):
            raise _failure(path, error) from error
        failed = error.filename if isinstance(error.filename, str) and path.startswith(error.filename) else path
        self._refused.add(failed)
        _log.error("dump: %s cannot be written to (%s); nothing is dumped there", failed, error.strerror)

    @contextlib.contextmanager
    def opened(self, *parts: str) -> Iterator[Directory | None]:
        """``open``, closed at the end of the block."""
        directory = self.open(*parts)
        try:
            yield directory
        finally:
            if directory is not None:
                directory.close()


def _make_directories(path: str) -> None:
    missing: list[str] = []
    while path and not os.path.isdir(path):
        missing.append(path)
        parent = os.path.dirname(path.rstrip("/"))
        if parent == path:
            break
        path = parent
    for directory in reversed(missing):
        try:
            os.mkdir(directory, DIRECTORY_MODE)
        except FileExistsError:
            if not os.path.isdir(directory):  # another process made it, or a file is in the way
                raise


class Directory:
    """One directory of ``tree``, held open; ``path`` must exist.

    All names are looked up in it directly, so that no path is walked twice.
    """

    def __init__(self, path: str, tree: Tree) -> None:
        self.path = path
        self._tree = tree
        self._fd = os.open(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | portable.BYTES)
        self._part = tree.part(self._fd)
        self._begun = False
        self._refused = False

    def close(self) -> None:
        """Closes the directory; it must not be used afterwards."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def write(self, name: str, buffers: Sequence[Buffer], mode: int = FILE_MODE) -> bool:
        """Writes a file of byte buffers, or replaces it as a whole; it ends with ``mode``.

        Returns:
            False if no file could be started in this directory (logged once); nothing was written.

        Raises:
            DumpWriteError: writing failed; neither ``name`` nor anything else was changed.
        """
        if self._refused:
            return False
        try:
            self._write_part(buffers, mode)
            os.rename(self._part, name, src_dir_fd=self._fd, dst_dir_fd=self._fd)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(self._part, dir_fd=self._fd)
            return self._judge(name, error)
        self._begun = self._tree.begun = True
        return True

    def _judge(self, name: str, error: OSError) -> bool:
        if self._begun:
            raise _failure(os.path.join(self.path, name), error) from error
        self._tree.refuse(self.path, error)
        self._refused = True
        return False

    def _write_part(self, buffers: Sequence[Buffer], mode: int) -> None:
        fd = os.open(self._part, _NEW, FILE_MODE, dir_fd=self._fd)
        try:
            written = os.writev(fd, buffers[:_MOST_BUFFERS])
            if written != sum(map(len, buffers)):
                _write_rest(fd, buffers, written)
            os.fchmod(fd, mode)
        finally:
            os.close(fd)

    def append(self, name: str, line: str, mode: int = FILE_MODE) -> bool:
        """Appends one line (its line end is added) to a file, made if absent; the line is written whole or not at all.

        The file ends with ``mode``.

        Returns, raises: as ``write``.
        """
        if self._refused:
            return False
        data = (line + "\n").encode()
        if not self.exists(name):
            return self.write(name, (data,), mode)
        try:
            fd = self._open_for_append(name)
        except OSError as error:
            return self._judge(name, error)
        try:
            before = os.fstat(fd).st_size
            try:
                if os.write(fd, data) != len(data):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            except OSError as error:
                with contextlib.suppress(OSError):
                    os.ftruncate(fd, before)
                raise _failure(os.path.join(self.path, name), error) from error
            os.fchmod(fd, mode)
        finally:
            os.close(fd)
        self._begun = self._tree.begun = True
        return True

    def _open_for_append(self, name: str) -> int:
        try:
            return os.open(name, _APPEND, FILE_MODE, dir_fd=self._fd)
        except PermissionError:
            os.chmod(name, 0o600, dir_fd=self._fd)
            return os.open(name, _APPEND, FILE_MODE, dir_fd=self._fd)

    def exists(self, name: str) -> bool:
        """Whether ``name`` exists, as anything."""
        try:
            os.stat(name, dir_fd=self._fd, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return True

    def append_table(self, name: str, header: str, rows: Sequence[str], first: int, later: int) -> bool:
        """Appends rows (without line ends) to a table, which is made with its header if absent.

        If the table has another header, ours is added before the rows.

        Args:
            first, later: the file's mode after its first row, and after any other.

        Returns, raises: as ``write``.
        """
        if not self.exists(name):
            text = "".join(f"{line}\n" for line in (header, *rows))
            return self.write(name, [text.encode()], first if len(rows) == 1 else later)
        if self._first_line(name) != header:
            rows = [header, *rows]
        return self.append(name, "\n".join(rows), later)

    def _first_line(self, name: str) -> str:
        """The first line of a file (at most 4 KiB of it), without its end; empty if it cannot be read."""
        try:
            fd = os.open(name, os.O_RDONLY | portable.BYTES | portable.NOFOLLOW, dir_fd=self._fd)
        except OSError:
            return ""
        try:
            return os.read(fd, 4096).partition(b"\n")[0].decode("utf-8", "replace")
        except OSError:
            return ""
        finally:
            os.close(fd)

    def write_array(self, name: str, array: Array, dtype: DType, stable: bool = False) -> bool:
        """Writes an array of any shape as ``.npy``; see ``write``.

        Args:
            stable: nobody writes to its memory any more; a queue then keeps it without a copy.
        """
        return self.write(name, npy.encode(array, dtype))

    def write_mapped(self, original: str, array: Array, dtype: DType, stable: bool = False) -> bool:
        """Writes an array under a number, and the row ``number.npy,original`` to ``mapping.csv``; see ``write``.

        The row is written after the array, so that each row's file exists.
        """
        name = self._unused_number(".npy")
        return self.write_array(name, array, dtype) and self.append(MAPPING, f"{name},{original}")

    def write_text(self, name: str, text: str) -> bool:
        """Writes or replaces a text file; under a number, like ``write_mapped``, if its name is too long."""
        data = [text.encode("utf-8", "replace")]
        if len(name.encode()) <= MAX_NAME_BYTES:
            return self.write(name, data)
        number = self._unused_number(os.path.splitext(name)[1])
        return self.write(number, data) and self.append(MAPPING, f"{number},{name}")

    def _unused_number(self, suffix: str) -> str:
        name = f"{secrets.randbelow(MAX_MAPPED_NUMBER) + 1}{suffix}"
        while self.exists(name):
            name = f"{secrets.randbelow(MAX_MAPPED_NUMBER) + 1}{suffix}"
        return name


def _write_rest(fd: int, buffers: Sequence[Buffer], written: int) -> None:
    """Writes the rest after one call (which takes 2 GiB at most), from byte ``written`` on."""
    for buffer in buffers:
        view = memoryview(buffer)
        skip = min(written, len(view))
        written -= skip
        view = view[skip:]
        while view:
            view = view[os.write(fd, view) :]
