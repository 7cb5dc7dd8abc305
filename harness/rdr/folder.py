"""Writes recorder files: each appears whole under its name or not at all, even if the process is killed.

Directories that are made have mode 0700, files 0400, whatever the umask; existing directories keep their mode
(measured on MindSpore 2.7.0, which writes in place).
"""

from __future__ import annotations

import contextlib
import os

from harness import log, portable
from harness.atomic import part_name, sweep_parts
from harness.rdr.names import MAX_FILE_NAME
from harness.rdr.paths import is_relative

DIRECTORY_MODE = 0o700
FILE_MODE = 0o400
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | portable.BYTES | portable.NOFOLLOW
_log = log.get("rdr.folder")


class Folder:
    """One ``rank_N/rdr`` directory; made when the first file is written.

    Args:
        path: of the directory; a relative one is looked up from the working directory of the moment.
    """

    def __init__(self, path: str) -> None:
        self.path = path

    def write(self, name: str, content: bytes, *, append: bool = False) -> bool:
        """Writes a file, replacing or (``append``) extending an existing one; returns whether it was written.

        A ``/`` in ``name`` makes directories (measured). Nothing is raised: a failure is logged as an error.
        """
        target = os.path.join(self.path, name)
        if is_relative(target):
            _log.error("rdr: Do not support relative path: %s", target)
            return False
        if len(os.fsencode(os.path.basename(os.path.splitext(name)[0]))) > MAX_FILE_NAME:
            _log.error("rdr: the file name of %s is longer than %d bytes", target, MAX_FILE_NAME)
            return False
        try:
            self._put(target, content, append)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            _log.error("rdr: %s cannot be written (%s)", target, reason)
            return False
        return True

    def _put(self, target: str, content: bytes, append: bool) -> None:
        _make(os.path.dirname(target))
        sweep_parts(os.path.dirname(target))
        before = _content(target) if append else b""
        _replace(target, before + content)


class Kept(Folder):
    """Keeps in memory what a directory would hold.

    Attributes:
        files: the content of each file, by its path.
    """

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.files: dict[str, bytes] = {}

    def _put(self, target: str, content: bytes, append: bool) -> None:
        self.files[target] = (self.files.get(target, b"") if append else b"") + content


def _make(path: str) -> None:
    missing = []
    while path and not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(path)
    for directory in reversed(missing):
        try:
            os.mkdir(directory, DIRECTORY_MODE)
        except FileExistsError:
            if not os.path.isdir(directory):  # somebody else made it, or a file is in the way
                raise


def _content(target: str) -> bytes:
    try:
        with open(target, "rb") as stream:
            return stream.read()
    except FileNotFoundError:
        return b""


def _replace(target: str, content: bytes) -> None:
    part = os.path.join(os.path.dirname(target), part_name())
    try:
        handle = os.open(part, _NEW, FILE_MODE)
        try:
            view = memoryview(content)
            while view:
                view = view[os.write(handle, view) :]
            os.fchmod(handle, FILE_MODE)
        finally:
            os.close(handle)
        os.rename(part, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise
