"""Spares Python's garbage collector work: while tens of thousands of objects are made at once, and while they live."""

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


class FrozenObjects:
    """Keeps the collector from examining what there is already; what is made meanwhile is collected as ever. Where the
    program itself has frozen objects, they stay as they are."""

    __slots__ = ("_ours",)

    def __enter__(self) -> None:
        self._ours = not gc.get_freeze_count()
        if self._ours:
            gc.freeze()

    def __exit__(self, *error: object) -> None:
        if self._ours:
            gc.unfreeze()
