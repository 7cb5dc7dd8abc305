"""Additional moments of an export, which MindSpore lacks: ``MSDUMP_RDR_TRIGGERS=exceptions,compile,signals``.

``exceptions``: an exception that nobody catches, in any thread. ``compile``: a compilation fails. ``signals``: SIGTERM,
SIGINT or SIGABRT arrives. Each exports what was not exported before, and then continues as without it: messages, exit
code and the signal's effect stay (only the traceback of an interrupt shows our handler). A process that calls
``abort()`` itself dies before Python could write anything.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from types import FrameType, TracebackType
from typing import Any

from harness import log
from harness.rdr.container import Recorders

VARIABLE = "MSDUMP_RDR_TRIGGERS"
KNOWN = ("exceptions", "compile", "signals")
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGABRT)
_log = log.get("rdr.triggers")


def wanted(environ: Mapping[str, str]) -> frozenset[str]:
    """The requested triggers; an unknown one is named in a warning and left out."""
    found = [text.strip() for text in environ.get(VARIABLE, "").split(",")]
    for text in found:
        if text and text not in KNOWN:
            _log.warning("rdr: %s names %r; accepted: %s", VARIABLE, text, ", ".join(KNOWN))
    return frozenset(found) & frozenset(KNOWN)


class Triggers:
    """Installs itself before the existing hooks and handlers, and removes itself again.

    Args:
        recorders: what is exported.
        names: of ``KNOWN``; ``compile`` is the observer's.
    """

    def __init__(self, recorders: Recorders, names: frozenset[str]) -> None:
        self._recorders = recorders
        self._names = names
        self._undo: list[Callable[[], None]] = []

    def install(self) -> None:
        """Begins to watch."""
        if "exceptions" in self._names:
            self._hook_exceptions()
        if "signals" in self._names:
            self._hook_signals()

    def remove(self) -> None:
        """Ends it; a hook that somebody installed over ours stays, and ours has no effect."""
        self._names = frozenset()
        while self._undo:
            self._undo.pop()()

    def _export(self, kind: str) -> None:
        if kind in self._names:
            self._recorders.trigger_new()

    # --- exceptions ---------------------------------------------------------------------------------------------------

    def _hook_exceptions(self) -> None:
        former, former_of_threads = sys.excepthook, threading.excepthook

        def on_exception(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
            if issubclass(kind, Exception):
                self._export("exceptions")
            former(kind, error, trace)

        def on_thread_exception(arguments: Any) -> None:
            self._export("exceptions")
            former_of_threads(arguments)

        sys.excepthook, threading.excepthook = on_exception, on_thread_exception

        def undo() -> None:
            if sys.excepthook is on_exception:
                sys.excepthook = former
            if threading.excepthook is on_thread_exception:
                threading.excepthook = former_of_threads

        self._undo.append(undo)

    # --- signals ------------------------------------------------------------------------------------------------------

    def _hook_signals(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            _log.warning(
                "rdr: %s=signals has no effect: the first network is compiled outside the main thread", VARIABLE
            )
            return
        for number in SIGNALS:
            former = signal.getsignal(number)
            if former is None or former is signal.SIG_IGN:
                continue  # set by other than Python, or a signal that changes nothing
            self._hook_signal(number, former)

    def _hook_signal(self, number: signal.Signals, former: Any) -> None:
        def on_signal(given: int, frame: FrameType | None) -> None:
            self._export("signals")
            if callable(former):
                former(given, frame)
            else:
                signal.signal(given, signal.SIG_DFL)
                os.kill(os.getpid(), given)

        signal.signal(number, on_signal)

        def undo() -> None:
            if signal.getsignal(number) is on_signal:
                signal.signal(number, former)

        self._undo.append(undo)
