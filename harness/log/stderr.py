"""Lines on the standard error."""

from __future__ import annotations

import logging
import sys


class StderrHandler(logging.Handler):
    """Writes to the current ``sys.stderr``.

    Args:
        formatter: the line form.
        level: lower ones are not written.
        gives_way: write nothing where the application set up logging of its own: the record reaches its handlers, and
            once is enough.
    """

    def __init__(self, formatter: logging.Formatter, level: int = logging.NOTSET, *, gives_way: bool = False) -> None:
        super().__init__(level)
        self.setFormatter(formatter)
        self._gives_way = gives_way

    def emit(self, record: logging.LogRecord) -> None:
        """See ``logging.Handler``."""
        if self._gives_way and logging.getLogger().handlers:
            return
        try:
            sys.stderr.write(self.format(record) + "\n")
            sys.stderr.flush()
        except Exception:
            self.handleError(record)
