"""Pauses Python's garbage collector while tens of thousands of objects are made at once."""

from __future__ import annotations

import gc


class PausedCollector:
    """Keeps the garbage collector from examining the same objects again and again, which takes as long as making them;
    there is no cycle among them."""

    __slots__ = ("_enabled",)

    def __enter__(self) -> None:
        self._enabled = gc.isenabled()
        gc.disable()

    def __exit__(self, *error: object) -> None:
        if self._enabled:
            gc.enable()
