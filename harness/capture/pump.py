"""Lets a thread read the next piece while the last one is processed."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

Item = TypeVar("Item")

_READY = 3
"""Number of items to make ahead."""


def pumped(source: Iterable[Item]) -> Iterator[Item]:
    """Gives (or raises) what ``source`` does, in the same order; a thread reads it a few items ahead.

    The thread ends with the iterator, even if that is closed early.
    """
    pump = _Pump(source)
    try:
        yield from pump.items()
    finally:
        pump.stop()


class _Pump(Generic[Item]):
    def __init__(self, source: Iterable[Item]) -> None:
        self._source = source
        self._ready: deque[Item] = deque()
        self._done = self._stopped = False
        self._error: BaseException | None = None
        self._changed = threading.Condition()
        self._runner = threading.Thread(target=self._run, name="msdump-reader", daemon=True)
        self._runner.start()

    def items(self) -> Iterator[Item]:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._ready or self._done)
                if not self._ready:
                    break
                item = self._ready.popleft()
                self._changed.notify_all()
            yield item
            del item
        if self._error is not None:
            raise self._error

    def stop(self) -> None:
        with self._changed:
            self._stopped = True
            self._ready.clear()
            self._changed.notify_all()
        self._runner.join()

    def _run(self) -> None:
        error = None
        try:
            for item in self._source:
                with self._changed:
                    self._changed.wait_for(lambda: len(self._ready) < _READY or self._stopped)
                    if self._stopped:
                        break
                    self._ready.append(item)
                    self._changed.notify_all()
                del item
        except BaseException as caught:
            error = caught
        with self._changed:
            self._error, self._done = error, True
            self._changed.notify_all()
