"""Tensor files of a tree: opened once, ahead of time if all will be read, and read from end to end."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import TypeVar

from harness.capture import npy
from harness.capture.pump import pumped
from harness.dtypes import DType
from harness.errors import TreeError
from harness.records import Array, Streamed

EAGER_BYTES = 1 << 20
"""Larger tensors are read on request, smaller ones together with their header."""
HINTED = 16 << 20
"""Bytes that the system is asked to read ahead, of one file and of all open files."""
_OPENED = 64
"""Number of files opened ahead."""
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
                    yield npy.as_dtype(piece, dtype)
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

    def through(self, work: Iterable[Work], paths: Callable[[Work], Iterable[str]]) -> Iterator[Work]:
        """Iterates ``work`` in its order; opens the files of each piece (``paths``) before giving it out."""
        if not self._enabled:
            yield from work
            return
        waiting: deque[Work] = deque()
        try:
            for each in work:
                for path in paths(each):
                    self._start(path)
                waiting.append(each)
                while waiting and (len(self._open) >= _OPENED or self._bytes >= HINTED):
                    yield waiting.popleft()
            yield from waiting
        finally:
            for file in self._open.values():
                file.close()
            self._open.clear()

    def _start(self, path: str) -> None:
        with suppress(OSError):  # the reader will meet the error again
            file = npy.NpyFile(path, self._inside)
            self._open[path] = file
            self._bytes += file.size
            file.hint(0, HINTED)

    def take(self, path: str) -> npy.NpyFile:
        """The open file; ``OSError`` if it cannot be opened, ``TreeError`` if it lies outside of the tree."""
        file = self._open.pop(path, None)
        if file is None:
            return npy.NpyFile(path, self._inside)
        self._bytes -= file.size
        return file
