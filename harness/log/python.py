"""``mindspore.log``: the log for scripts, and its settings.

These lines never reach the root logger (measured).
"""

from __future__ import annotations

import logging
from functools import cache
from typing import Any

from harness.log.lines import PythonLine
from harness.log.settings import LEVELS, LogSettings, at_import
from harness.log.stderr import StderrHandler


@cache
def _logger() -> logging.Logger:
    logger = logging.getLogger("mindspore.log")
    logger.propagate = False
    settings = at_import()
    logger.handlers[:] = handlers(settings)
    logger.setLevel(LEVELS[settings.level])
    return logger


def handlers(settings: LogSettings) -> list[logging.Handler]:
    """The destinations of a script's lines: stderr, or a file and, from ``stderr_level`` on, stderr too."""
    formatter = PythonLine()
    if settings.folder is None:
        return [StderrHandler(formatter)]
    from harness.log.files import ScriptFile  # only then: it needs logging.handlers

    return [ScriptFile(settings, formatter), StderrHandler(formatter, LEVELS[settings.stderr_level])]


def _log(level: int, msg: object, args: tuple[object, ...], given: dict[str, Any]) -> None:
    given["stacklevel"] = 3  # the caller of debug(), info(), ...; MindSpore takes no other either
    _logger().log(level, msg, *args, **given)


def debug(msg: object, *args: object, **kwargs: Any) -> None:
    """Logs ``msg % args`` (``msg`` as it is without arguments) at level 0."""
    _log(logging.DEBUG, msg, args, kwargs)


def info(msg: object, *args: object, **kwargs: Any) -> None:
    """Logs at level 1; see ``debug``."""
    _log(logging.INFO, msg, args, kwargs)


def warning(msg: object, *args: object, **kwargs: Any) -> None:
    """Logs at level 2; see ``debug``."""
    _log(logging.WARNING, msg, args, kwargs)


def error(msg: object, *args: object, **kwargs: Any) -> None:
    """Logs at level 3; see ``debug``."""
    _log(logging.ERROR, msg, args, kwargs)


def critical(msg: object, *args: object, **kwargs: Any) -> None:
    """Logs at level 4; see ``debug``."""
    _log(logging.CRITICAL, msg, args, kwargs)


def get_level() -> str:
    """The level as ``GLOG_v`` gives it: ``"0"`` (debug) to ``"4"`` (critical)."""
    return str(LEVELS.index(_logger().level))


def get_log_config() -> dict[str, Any]:
    """The settings under the names of their variables; those of files only where there are files."""
    _logger()
    settings = at_import()
    config: dict[str, Any] = {"GLOG_v": get_level(), "GLOG_logtostderr": "1" if settings.folder is None else "0"}
    if settings.folder is not None:
        config["GLOG_log_dir"] = settings.folder
        config["logger_maxBytes"] = settings.max_bytes
        config["logger_backupCount"] = settings.backup_count
        config["GLOG_stderrthreshold"] = str(settings.stderr_level)
    return config
