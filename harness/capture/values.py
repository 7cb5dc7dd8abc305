"""Tensor files of a tree: opened once, ahead of time if all will be read, and read from end to end."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from harness.capture import npy
from harness.capture.narrowing import as_dtype
from harness.capture.pump import pumped
from harness.dtypes import DType
from harness.errors import TreeError
from harness.reading import Folder
from harness.records import Array, Streamed

EAGER_BYTES = 1 << 20
"""Larger tensors are read on request, smaller ones together with their header."""
HINTED = 16 << 20
"""Bytes that the system is asked to read ahead, of one file and of all open files."""
_OPENED = 64
"""Number of files opened ahead."""
_FOLDERS = 16
"""Number of directories open at a time: graphs take turns."""
_ALONE = 8 << 20
"""Files below this size are read without a thread."""

Work = TypeVar("Work")
Shape = tuple[int, ...]


class FileValues(Streamed):
    """Loads one tensor; holds it, or its open file, until it is requested or the next record is made.

    Args:
        inside: real path of the tree, which no link may leave.
    """

    __slots__ = ("device", "hot", "inside", "named", "opened", "path", "plain", "shape", "stored")

    def __init__(
        self,
        path: str,
        named: str | None,
        shape: Shape,
        device: DType | None,
        hot: Array | None,
        inside: str,
        stored: Callable[[Array], Array] | None = None,
    ) -> None:
        self.path = path
        self.inside = inside
        self.named = named
        self.shape = shape
        self.device = device
        self.hot = hot
        self.stored = stored
        self.opened: npy.NpyFile | None = None
        #: for a large file with unconverted elements
        self.plain: npy.Header | None = None

    def __call__(self) -> Array:
        hot, self.hot = self.hot, None
        if hot is not None:
            return hot
        opened, self.opened = self.opened, None
        array = npy.load(self.path, self.named, self.shape, self.device, opened, self.inside)
        return array if self.stored is None else self.stored(array)

    def pieces(self) -> Iterator[Array] | None:
        opened = self.opened
        if opened is None or self.stored is not None or not opened.streams:
            return None
        self.opened = None
        return self._pieces(opened)

    def _pieces(self, opened: npy.NpyFile) -> Iterator[Array]:
        dtype = npy.dtype_named(opened.header, self.named)
        try:
            with opened:
                pieces = opened.pieces(HINTED)
                for piece in pumped(pieces) if opened.size > _ALONE else pieces:
                    yield as_dtype(piece, dtype)
        except (npy.Incomplete, ValueError, OSError) as error:
            raise TreeError(f"{self.path}: {error}") from None

    def blocks(self, size: int, start: int) -> Iterator[Array] | None:
        return None if self.plain is None else npy.blocks(self.path, self.plain, size, start, self.inside)

    def head(self) -> bytes:
        return b"" if self.plain is None or self.opened is None else self.opened.head()

    def forget(self) -> None:
        """Releases what is kept of this record, because the next one is due."""
        self.hot = None
        if self.opened is not None:
            self.opened.close()
            self.opened = None


class Ahead:
    """Opens files ahead of time, so that disk and processor work in parallel.

    Args:
        enabled: whether to do so; a reader of names only must not cause whole files to be read.
        inside: real path of the tree, which no link may leave.
    """

    def __init__(self, enabled: bool, inside: str) -> None:
        self._enabled = enabled
        self._inside = inside
        self._open: dict[str, npy.NpyFile] = {}
        self._bytes = 0
        #: the directories in which files were opened lately
        self._folders: dict[str, Folder] = {}

    def through(self, work: Iterable[Work], paths: Callable[[Work], Iterable[str]]) -> Iterator[Work]:
        """Iterates ``work`` in its order; opens the files of each piece (``paths``) before giving it out."""
        try:
            yield from self._opened(work, paths) if self._enabled else work
        finally:
            for file in self._open.values():
                file.close()
            self._open.clear()
            self._leave()

    def _opened(self, work: Iterable[Work], paths: Callable[[Work], Iterable[str]]) -> Iterator[Work]:
        waiting: deque[Work] = deque()
        for each in work:
            for path in paths(each):
                try:
                    file = self._open[path] = self._made(path)
                except OSError:  # the reader will meet the error again
                    continue
                self._bytes += file.size
                file.hint(0, HINTED)
            waiting.append(each)
            while waiting and (len(self._open) >= _OPENED or self._bytes >= HINTED):
                yield waiting.popleft()
        yield from waiting

    def _leave(self) -> None:
        for folder in self._folders.values():
            folder.close()
        self._folders.clear()

    def _made(self, path: str) -> npy.NpyFile:
        directory, _, name = path.rpartition(os.sep)
        folder = self._folders.get(directory)
        if folder is None:
            if len(self._folders) >= _FOLDERS:
                self._leave()
            try:
                folder = self._folders[directory] = Folder(directory, self._inside, TreeError)
            except (OSError, TreeError):
                return npy.NpyFile(path, self._inside)  # which says what is wrong with the file
        return npy.NpyFile(path, opened=folder.open(name))

    def take(self, path: str) -> npy.NpyFile:
        """The open file; ``OSError`` if it cannot be opened, ``TreeError`` if it lies outside of the tree."""
        file = self._open.pop(path, None)
        if file is None:
            return self._made(path)
        self._bytes -= file.size
        return file
