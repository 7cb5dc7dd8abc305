"""The files of a dump tree, written through a queue: the same interface as ``dump.writer``, and the same files.

Directories are made at once, so that a wrong path is noticed at once; files wait in the queue.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from harness import dtypes
from harness.dtypes import DType
from harness.dump.asynchronous.memory import Array, keep, kept_bytes
from harness.dump.asynchronous.write_queue import WriteQueue
from harness.dump.writer import FILE_MODE, Buffer, Directory, Tree


class QueuedTree(Tree):
    """See ``Tree``.

    Args:
        root: absolute path of its top.
        queue: queue that writes the files.
        named_anew: see ``Tree``.
    """

    def __init__(self, root: str, queue: WriteQueue, *, named_anew: bool = False) -> None:
        super().__init__(root, named_anew=named_anew)
        self._queue = queue

    def open(self, *parts: str) -> QueuedDirectory | None:
        """See ``Tree.open``."""
        directory = super().open(*parts)
        return None if directory is None else QueuedDirectory(directory, self._queue)


class QueuedDirectory(Directory):
    """See ``Directory``.

    Methods that write return True, because the outcome is not known yet, and may raise the ``DumpWriteError`` of an
    earlier file.
    """

    def __init__(self, directory: Directory, queue: WriteQueue) -> None:
        self.path = directory.path
        self._directory = directory
        self._queue = queue

    def close(self) -> None:
        """Closes the directory when everything is written."""
        self._queue.afterwards(self._directory.close)

    def write(self, name: str, buffers: Sequence[Buffer], mode: int = FILE_MODE) -> bool:
        """See ``Directory.write``. Buffers that can change are copied."""
        cost = sum(map(len, buffers))
        kept = [bytes(buffer) for buffer in buffers] if self._queue.make_room(cost) else buffers
        self._queue.submit(partial(self._directory.write, name, kept, mode), cost)
        return True

    def append(self, name: str, line: str, mode: int = FILE_MODE) -> bool:
        """See ``Directory.append``."""
        self._queue.submit(partial(self._directory.append, name, line, mode), len(line))
        return True

    def append_table(self, name: str, header: str, rows: Sequence[str], first: int, later: int) -> bool:
        """See ``Directory.append_table``."""
        action = partial(self._directory.append_table, name, header, list(rows), first, later)
        self._queue.submit(action, len(header) + sum(map(len, rows)))
        return True

    def exists(self, name: str) -> bool:
        """See ``Directory.exists``; after all waiting files are written."""
        self._queue.drain()
        return self._directory.exists(name)

    def write_array(self, name: str, array: Array, dtype: DType, stable: bool = False) -> bool:
        """See ``Directory.write_array``."""
        return self._write_array(self._directory.write_array, name, array, dtype, stable)

    def write_mapped(self, original: str, array: Array, dtype: DType, stable: bool = False) -> bool:
        """See ``Directory.write_mapped``."""
        return self._write_array(self._directory.write_mapped, original, array, dtype, stable)

    def write_text(self, name: str, text: str) -> bool:
        """See ``Directory.write_text``."""
        self._queue.submit(partial(self._directory.write_text, name, text), len(text))
        return True

    def _write_array(
        self, write: Callable[[str, Array, DType], bool], name: str, array: Array, dtype: DType, stable: bool
    ) -> bool:
        # bfloat16 is widened to twice its bytes when written; arrays that are not contiguous are copied.
        more = 2 * array.nbytes if dtype is dtypes.bfloat16 else 0 if array.flags.c_contiguous else array.nbytes
        cost = kept_bytes(array, stable) + more
        kept = keep(array, stable) if self._queue.make_room(cost) else array
        self._queue.submit(partial(write, name, kept, dtype), cost)
        return True
