"""The loggers of the harness's own lines: ``harness`` and, below it, one for each package."""

from __future__ import annotations

import logging
import threading

from harness.log.lines import SubmoduleLine
from harness.log.settings import DEFAULT_LEVEL, LEVELS, LogSettings, at_import
from harness.log.stderr import StderrHandler
from harness.log.submodules import SUBMODULES

ROOT = "harness"
_lock = threading.RLock()
_ready = False


def get(name: str) -> logging.Logger:
    """The logger ``harness.<name>``; ``name`` begins with the package that logs, which gives the sub-module.

    The first call sets everything up as the environment wants it.

    Raises:
        SettingError, SettingTypeError: a variable of the log has a value that is not accepted.
    """
    global _ready
    with _lock:
        if not _ready:
            set_up(at_import())
            _ready = True
    return logging.getLogger(f"{ROOT}.{name}")


def set_up(settings: LogSettings) -> None:
    """Gives the loggers their levels and handlers; those of an earlier call are replaced."""
    formatter = SubmoduleLine()
    handlers: list[logging.Handler] = [StderrHandler(formatter, gives_way=True)]
    if settings.folder is not None:
        from harness.log.files import SeverityFiles  # only then: it needs logging.handlers

        # In file mode warnings still reach the standard error, whatever GLOG_stderrthreshold says (measured).
        handlers = [
            SeverityFiles(settings, formatter),
            StderrHandler(formatter, LEVELS[DEFAULT_LEVEL], gives_way=True),
        ]
    root = logging.getLogger(ROOT)
    root.handlers[:] = [handler for handler in root.handlers if not _is_ours(handler)] + handlers
    root.setLevel(LEVELS[settings.level])
    for package, module in SUBMODULES.items():
        level, name = settings.submodules.levels.get(module), f"{ROOT}.{package}"
        # A new logger has no level of its own. pytest looks at every logger there is six times a test.
        if level is not None or name in root.manager.loggerDict:
            logging.getLogger(name).setLevel(logging.NOTSET if level is None else LEVELS[level])
    for problem in settings.submodules.problems:
        logging.getLogger(f"{ROOT}.log").warning("%s", problem)


def _is_ours(handler: logging.Handler) -> bool:
    return isinstance(handler.formatter, SubmoduleLine)
