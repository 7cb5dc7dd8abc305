"""Memory for the temporaries of a block, kept: what a pass over 128 KiB costs is mostly fresh pages."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


class Scratch(threading.local):
    """Uninitialised arrays by name; each thread has its own. What is taken is overwritten when its name is taken again.

    Args:
        size: elements of the longest that is kept.
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
