"""The two forms of a line.

    [WARNING] ME(1234:140389,MainProcess):2026-01-31-12:00:00.123.456 [/home/me/train.py:7] text
    [WARNING] DEBUG(1234,7fae4c1b80,python):2026-01-31-12:00:00.123.456 [harness/dump/config.py:7] parse] text

MindSpore's Python side has the first, its C++ side the second (thread in hex, the program's name, the function).
"""

from __future__ import annotations

import logging
import os
import sys
from datetime import datetime

from harness.log.submodules import OTHER, submodule_of


def stamp(created: float) -> str:
    """``2026-01-31-12:00:00.123.456``: local time in milliseconds and microseconds.

    Args:
        created: seconds since the epoch.
    """
    moment = datetime.fromtimestamp(created)
    return f"{moment:%Y-%m-%d-%H:%M:%S}.{moment.microsecond // 1000:03d}.{moment.microsecond % 1000:03d}"


def shown_path(path: str, package: str) -> str:
    """``path`` from the last occurrence of ``package`` on; all of it where there is none (measured)."""
    at = path.rfind(package)
    return path[at:] if at >= 0 else path


class _Formatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        text = self.head(record) + record.getMessage()
        if record.exc_info:
            text += "\n" + self.formatException(record.exc_info)
        if record.stack_info:
            text += "\n" + self.formatStack(record.stack_info)
        return text

    def head(self, record: logging.LogRecord) -> str:
        """The text before the message."""
        raise NotImplementedError


class PythonLine(_Formatter):
    """The form of MindSpore's Python side; tid in decimal."""

    def head(self, record: logging.LogRecord) -> str:
        """See ``_Formatter.head``."""
        return (
            f"[{record.levelname}] {OTHER}({record.process}:{record.thread or 0},{record.processName}):"
            f"{stamp(record.created)} [{shown_path(record.pathname, 'mindspore')}:{record.lineno}] "
        )


class SubmoduleLine(_Formatter):
    """The form of MindSpore's C++ side. Of a part of the harness that is Python there too, that of ``PythonLine``."""

    _program = os.path.basename(sys.executable) or "python"
    _python = PythonLine()

    def head(self, record: logging.LogRecord) -> str:
        """See ``_Formatter.head``."""
        module = submodule_of(record.name)
        if module == OTHER:
            return self._python.head(record)
        return (
            f"[{record.levelname}] {module}({record.process},{record.thread or 0:x},{self._program}):"
            f"{stamp(record.created)} [{shown_path(record.pathname, 'harness')}:{record.lineno}] {record.funcName}] "
        )
