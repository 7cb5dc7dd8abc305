"""Reusable memory to read files into: fresh pages cost as much as the bytes that fill them."""

from __future__ import annotations

import sys
import threading
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

_KEPT = 4
_SMALLEST, _LARGEST = 1 << 17, 1 << 26
#: References to an unused buffer: the list's, the loop's, and the argument of ``getrefcount``.
_UNUSED = 3
#: bytes of a cache line
_LINE = 64


class Buffers:
    """Hands out uninitialised arrays of bytes; reuses one as soon as no array refers to it.

    An array made from a buffer keeps it in use, so that a buffer in use is never overwritten.

    Args:
        count: number of buffers to keep.
    """

    def __init__(self, count: int = _KEPT) -> None:
        self._count = count
        self._kept: list[Array] = []
        self._lock = threading.Lock()

    def take(self, size: int) -> Array:
        """uint8 [size]; reuses free memory for sizes between 128 KiB and 64 MiB.

        Large ones begin at a cache line: the system copies to other places more slowly, on some processors by far.
        """
        if size < _SMALLEST:
            return np.empty(size, np.uint8)
        if size > _LARGEST:
            return _aligned(np.empty(size + _LINE, np.uint8), size)
        with self._lock:
            for kept in self._kept:
                if kept.size >= size + _LINE and sys.getrefcount(kept) == _UNUSED:
                    return _aligned(kept, size)
            kept = np.empty(size + size // 4, np.uint8)
            self._kept = [kept, *self._kept[: self._count - 1]]
            return _aligned(kept, size)


def _aligned(memory: Array, size: int) -> Array:
    start = -memory.__array_interface__["data"][0] % _LINE
    return memory[start : start + size]
