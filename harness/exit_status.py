"""Lets a process that was about to end well end with a failure: what fails at its very end is a failure, too.

Python prints what a function registered with ``atexit`` raises, and the exit code stays 0. Imported first of all of the
harness, so that what this module registers runs after everything the harness and its users register later.
"""

from __future__ import annotations

import atexit
import logging
import os
import sys

_failed: list[BaseException] = []


def fail(error: BaseException) -> None:
    """Reports ``error`` as an uncaught exception, in one line, and has the process end with exit code 1.

    For functions that run at exit; the others that are registered still run.
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
