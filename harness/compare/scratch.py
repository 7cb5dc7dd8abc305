"""Reusable memory for the temporaries of a block: fresh pages are most of the cost of a pass over 128 KiB."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


class Scratch(threading.local):
    """Uninitialised arrays by name; each thread has its own. An array is overwritten when its name is taken again.

    Args:
        size: number of elements of the longest array that is kept.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept: dict[str, Array] = {}

    def take(self, name: str, dtype: Any, size: int) -> Array:
        """An array [size] of ``dtype``; a name always has the same dtype."""
        kept = self._kept.get(name)
        if kept is None:
            kept = self._kept[name] = np.empty(self._size, dtype)
        return kept[:size] if size <= self._size else np.empty(size, dtype)
