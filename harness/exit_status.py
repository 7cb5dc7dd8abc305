"""Exit codes of the commands, and a failure for a process in which something fails at its very end.

If a function registered with ``atexit`` raises, Python prints the error but exits with code 0. The harness imports this
module first, so that its own exit function runs after all that are registered later.
"""

from __future__ import annotations

import atexit
import logging
import os
import sys

#: what a comparison says: it holds, it differs, nothing was compared or values were not kept
HOLDS, DIFFERS, CANNOT_TELL = 0, 1, 2

_failed: list[BaseException] = []


def fail(error: BaseException) -> None:
    """Reports ``error`` like an uncaught exception, in one line, and makes the process end with exit code 1.

    For functions that run at exit; the other registered functions still run.
    """
    error.__cause__, error.__suppress_context__ = None, True
    sys.excepthook(type(error), error.with_traceback(None), None)
    _failed.append(error)


def _end() -> None:
    if _failed:
        logging.shutdown()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(1)


atexit.register(_end)
