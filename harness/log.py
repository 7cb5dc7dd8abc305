"""The harness's log: Python's ``logging`` with MindSpore's levels and line form.

``GLOG_v`` sets what is shown, as in MindSpore: 0 debug, 1 info, 2 warning (the default), 3 error, 4 critical.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Mapping
from datetime import datetime

ROOT = "harness"
LEVELS = {
    "0": logging.DEBUG,
    "1": logging.INFO,
    "2": logging.WARNING,
    "3": logging.ERROR,
    "4": logging.CRITICAL,
}
DEFAULT_LEVEL = "2"
_lock = threading.Lock()


def level(environ: Mapping[str, str] = os.environ) -> int:
    """The ``logging`` level that ``GLOG_v`` asks for; a value MindSpore does not know counts as 2 (warning)."""
    return LEVELS.get(environ.get("GLOG_v", DEFAULT_LEVEL), LEVELS[DEFAULT_LEVEL])


class MindSporeFormatter(logging.Formatter):
    """Prints ``[WARNING] ME(pid,thread,process):2026-01-31-12:00:00.123.456 [file:line logger] text``."""

    def format(self, record: logging.LogRecord) -> str:
        stamp = datetime.fromtimestamp(record.created)
        micro = f"{stamp.microsecond:06d}"
        head = (
            f"[{record.levelname}] ME({record.process},{record.thread or 0:x},{record.processName}):"
            f"{stamp:%Y-%m-%d-%H:%M:%S}.{micro[:3]}.{micro[3:]} "
            f"[{record.filename}:{record.lineno} {record.name}] {record.getMessage()}"
        )
        if record.exc_info:
            head += "\n" + self.formatException(record.exc_info)
        return head


class _StderrHandler(logging.Handler):
    """Writes to the ``sys.stderr`` of the moment, unless the application set up logging of its own."""

    def emit(self, record: logging.LogRecord) -> None:
        if logging.getLogger().handlers:
            return  # the root logger prints it: once is enough
        try:
            sys.stderr.write(self.format(record) + "\n")
        except Exception:
            self.handleError(record)


def get(name: str) -> logging.Logger:
    """The logger ``harness.<name>``; the first call sets the level from ``GLOG_v`` and the line form."""
    root = logging.getLogger(ROOT)
    with _lock:
        if not any(isinstance(handler, _StderrHandler) for handler in root.handlers):
            handler = _StderrHandler()
            handler.setFormatter(MindSporeFormatter())
            root.addHandler(handler)
            if root.level == logging.NOTSET:
                root.setLevel(level())
    return root.getChild(name)
