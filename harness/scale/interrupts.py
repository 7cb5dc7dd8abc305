"""An interrupt (Ctrl-C) is never lost.

Python drops what a handler of signals raises in functions that must not fail: those registered for a fork (``logging``
has some, and keeps its lock then), destructors, callbacks of weak references. A command would go on as if nobody had
interrupted it. Here the handler remembers, and who waits or ends asks it.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class _Ear:
    """A handler of SIGINT.

    Attributes:
        came: whether there was an interrupt.
        holds: whether one waits.
    """

    def __init__(self) -> None:
        self.came = self.holds = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self.came = True
        if not self.holds:
            raise KeyboardInterrupt


_ear: _Ear | None = None


@contextmanager
def heard() -> Iterator[None]:
    """Within, ``check`` knows of every interrupt; where interrupts are not Python's own affair, nothing changes.

    Raises:
        KeyboardInterrupt: as ``check``, at the end.
    """
    global _ear
    own = threading.current_thread() is threading.main_thread()
    if _ear is not None or not own or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    try:
        _ear = _Ear()
        signal.signal(signal.SIGINT, _ear)
        yield
        check()
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _ear = None


def check() -> None:
    """Raises what was dropped.

    Raises:
        KeyboardInterrupt: there was an interrupt since ``heard`` began.
    """
    if _ear is not None and _ear.came:
        raise KeyboardInterrupt


@contextmanager
def held() -> Iterator[None]:
    """Within, an interrupt waits; it comes at the end.

    Raises:
        KeyboardInterrupt: there was one.
    """
    with heard():
        ear = _ear
        if ear is not None:
            ear.holds = True
        try:
            yield
        finally:
            if ear is not None:
                ear.holds = False
        check()
