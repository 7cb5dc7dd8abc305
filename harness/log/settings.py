"""The log's settings from the environment: ``GLOG_v``, ``GLOG_logtostderr``, ``GLOG_log_dir``,
``GLOG_stderrthreshold``, ``GLOG_max_log_size``, ``logger_maxBytes``, ``logger_backupCount``, ``MS_SUBMODULE_LOG_v``.

Measured on 2.10.0: an empty value counts as unset, others are stripped; a wrong value raises ``ValueError``, except in
``MS_SUBMODULE_LOG_v``, which only warns.
"""

from __future__ import annotations

import logging
import os
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from harness.errors import SettingError
from harness.log.submodules import SubmoduleLevels, parse_levels

#: ``logging``'s level of each of MindSpore's.
LEVELS = (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR, logging.CRITICAL)
DEFAULT_LEVEL = 2
DEFAULT_MAX_BYTES = 52_428_800
DEFAULT_BACKUP_COUNT = 30
#: Size limit in MiB of the files of the harness's own lines. The documented ``GLOG_log_max`` has no effect (measured).
DEFAULT_MAX_LOG_SIZE = 50

_FOLDER = re.compile(r"[/0-9a-zA-Z@_\-.:\\]+", re.ASCII)
_RANK = re.compile(r"[0-9a-zA-Z_-]+", re.ASCII)
#: The environment as it was at import: setting it later has no effect (measured).
AT_IMPORT = dict(os.environ)


@dataclass(frozen=True, slots=True)
class LogSettings:
    """One reading of the environment.

    Attributes:
        level: 0 (debug) to 4 (critical); lower ones are not logged.
        folder: ``<GLOG_log_dir>/rank_<id>/logs`` where lines go to files; None where they go to stderr only.
        base: ``GLOG_log_dir`` itself; None with ``folder``.
        stderr_level: of a script's lines, those from this level on also go to stderr in file mode.
        max_bytes: a script's log file is rotated before it would grow to this size; 0 never.
        backup_count: rotated files that are kept.
        max_log_size: bytes after which a file of the harness's own lines is followed by another.
        submodules: levels by sub-module.
    """

    level: int = DEFAULT_LEVEL
    folder: str | None = None
    base: str | None = None
    stderr_level: int = DEFAULT_LEVEL
    max_bytes: int = DEFAULT_MAX_BYTES
    backup_count: int = DEFAULT_BACKUP_COUNT
    max_log_size: int = DEFAULT_MAX_LOG_SIZE << 20
    submodules: SubmoduleLevels = field(default_factory=SubmoduleLevels)


def read(environ: Mapping[str, str]) -> LogSettings:
    """The settings in ``environ``.

    Raises:
        SettingError: a variable has a value that is not accepted (a ``ValueError``, as in MindSpore).
    """
    given = {name: value.strip() for name, value in environ.items() if value}
    level = _level(given, "GLOG_v")
    stderr_level = _level(given, "GLOG_stderrthreshold")
    console = given.get("GLOG_logtostderr", "1")
    if console not in ("0", "1"):
        raise SettingError(f"GLOG_logtostderr={console!r}: 0 (files) or 1 (stderr) is accepted")
    files = console == "0"
    max_bytes = _number(given, "logger_maxBytes", DEFAULT_MAX_BYTES, files)
    backup_count = _number(given, "logger_backupCount", DEFAULT_BACKUP_COUNT, files)
    base = folder = None
    if files:
        base = _base(given.get("GLOG_log_dir", ""))
        folder = f"{base}/rank_{_rank(given)}/logs"
    submodules = parse_levels(given["MS_SUBMODULE_LOG_v"]) if "MS_SUBMODULE_LOG_v" in given else SubmoduleLevels()
    size = given.get("GLOG_max_log_size", "")
    megabytes = int(size) if re.fullmatch("[1-9][0-9]{0,5}", size, re.ASCII) else DEFAULT_MAX_LOG_SIZE
    return LogSettings(level, folder, base, stderr_level, max_bytes, backup_count, megabytes << 20, submodules)


def _level(given: Mapping[str, str], name: str) -> int:
    text = given.get(name, str(DEFAULT_LEVEL))
    if text not in ("0", "1", "2", "3", "4"):
        raise SettingError(
            f"{name}={text!r}: one digit is accepted, 0 (debug), 1 (info), 2 (warning), 3 (error) or 4 (critical)"
        )
    return int(text)


def _number(given: Mapping[str, str], name: str, default: int, files: bool) -> int:
    """A size or count. Without files any integer is accepted (measured)."""
    text = given.get(name)
    if text is None:
        return default
    try:
        value = int(text)
    except ValueError:
        value = -1
        files = True
    if files and (value < 0 or not text.isdigit()):
        raise SettingError(f"{name}={text!r}: a whole number, 0 or larger, is accepted")
    return value


def _base(text: str) -> str:
    """``GLOG_log_dir`` as an absolute path; it is made later. One that exists may have any name (measured)."""
    if not text:
        raise SettingError("GLOG_logtostderr=0 needs GLOG_log_dir, the directory of the log files; it is not set")
    path = os.path.realpath(text)
    if not os.path.exists(path) and _FOLDER.fullmatch(path) is None:
        raise SettingError(
            f"GLOG_log_dir={text!r}: the path of a new directory consists of letters, digits and @ _ - . : / \\"
        )
    return path


def _rank(given: Mapping[str, str]) -> str:
    own, other = given.get("RANK_ID"), given.get("OMPI_COMM_WORLD_RANK")
    if own and other and own != other:
        warnings.warn(f"RANK_ID={own} and OMPI_COMM_WORLD_RANK={other} differ; the log takes RANK_ID", stacklevel=2)
    rank = own or other or given.get("MS_NODE_ID") or "0"
    if _RANK.fullmatch(rank) is None:
        raise SettingError(f"rank {rank!r}: the log's directory takes letters, digits, _ and - only")
    return rank


@cache
def at_import() -> LogSettings:
    """The settings of this process; ``SettingError`` at each call where they cannot be read."""
    return read(AT_IMPORT)
