"""Log files: ``<GLOG_log_dir>/rank_<id>/logs``.

A script's lines go to ``mindspore.log.<pid>``, rotated to ``.1`` (the newest) ... ``.N``. The harness's own go, as
those of MindSpore's C++ side, to ``mindspore.<host>.<user>.log.<SEVERITY>.<time>.<pid>``, each to the files of its
severity and of those below, and ``mindspore.<SEVERITY>`` links to the newest.
"""

from __future__ import annotations

import contextlib
import logging
import os
import platform
import re
import time
from collections.abc import Sequence
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler

from harness.errors import SettingTypeError
from harness.log.settings import LogSettings

SEVERITIES: Sequence[tuple[str, int]] = (
    ("INFO", logging.NOTSET),
    ("WARNING", logging.WARNING),
    ("ERROR", logging.ERROR),
)
#: How a severity file says what its lines look like.
LINE_FORM = "[LEVEL] MODULE(pid,tid,program):yyyy-mm-dd-hh:mm:ss.mmm.uuu [file:line] function] message"


def make_folder(settings: LogSettings) -> str:
    """Makes the directory of the files, 0700, and gives it. Where ``GLOG_log_dir`` itself is new, nobody else may enter
    it either; one that exists keeps its mode, and the process keeps its umask.

    Raises:
        SettingTypeError: it cannot be made (a ``TypeError``, as in MindSpore).
    """
    assert settings.folder is not None
    assert settings.base is not None
    try:
        if not os.path.isdir(settings.base):
            _make_private(settings.base)
            _make_private(settings.folder)
        os.makedirs(settings.folder, mode=0o700, exist_ok=True)
    except OSError as error:
        raise SettingTypeError(
            f"GLOG_log_dir: the directory {settings.folder} cannot be made: {error.strerror}"
        ) from error
    return settings.folder


def _user() -> str:
    """``$USER``, also where it is empty; the account's name where it is not set (as measured)."""
    if "USER" in os.environ:
        return os.environ["USER"]
    try:
        import pwd  # not on every system

        return pwd.getpwuid(os.geteuid()).pw_name
    except (ImportError, KeyError):
        return ""


def _make_private(path: str) -> None:
    if not os.path.isdir(path):
        _make_private(os.path.dirname(path))
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, 0o700)


class ScriptFile(RotatingFileHandler):
    """``mindspore.log.<pid>``, mode 0600; rotated ones 0400."""

    def __init__(self, settings: LogSettings, formatter: logging.Formatter) -> None:
        path = f"{make_folder(settings)}/mindspore.log.{os.getpid()}"
        super().__init__(
            path, maxBytes=settings.max_bytes, backupCount=settings.backup_count, encoding="utf-8", delay=True
        )
        self.setFormatter(formatter)
        os.close(os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600))
        os.chmod(path, 0o600)

    def doRollover(self) -> None:
        """See ``RotatingFileHandler``."""
        if self.backupCount > 0:
            os.chmod(self.baseFilename, 0o400)
        super().doRollover()
        if os.path.exists(self.baseFilename):
            os.chmod(self.baseFilename, 0o600)

    def _open(self) -> TextIOWrapper:
        stream = super()._open()
        os.chmod(self.baseFilename, 0o600)
        return stream


class _SeverityFile:
    """The files of one severity, one after the other."""

    def __init__(self, folder: str, severity: str, limit: int) -> None:
        self._folder = folder
        self._severity = severity
        self._limit = limit
        self._path = ""
        self._size = 0

    def write(self, line: bytes) -> None:
        """Appends a line; begins another file once the last one is full."""
        if not self._path or self._size >= self._limit:
            self._begin()
        with open(os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o640), "wb") as file:
            file.write(line)
        self._size += len(line)

    def _begin(self) -> None:
        user = re.sub(r"[^\w.-]", "_", _user() or "invalid-user")
        host = re.sub(r"[^\w.-]", "_", platform.node() or "unknown")
        moment = time.strftime("%Y%m%d-%H%M%S")
        name = f"mindspore.{host}.{user}.log.{self._severity}.{moment}.{os.getpid()}"
        path = os.path.join(self._folder, name)
        if path == self._path:
            return  # two files of one second would have one name: the full one goes on
        self._path = path
        header = (
            f"Log file created at: {time.strftime('%Y/%m/%d %H:%M:%S')}\nRunning on machine: {host}\n"
            f"Running duration (h:mm:ss): 0:00:00\nLog line format: {LINE_FORM}\n"
        ).encode()
        with open(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o640), "wb") as file:
            file.write(header)
        self._size = len(header)
        self._link(name)

    def _link(self, name: str) -> None:
        link = os.path.join(self._folder, f"mindspore.{self._severity}")
        beside = f"{link}.{os.getpid()}.part"
        with contextlib.suppress(OSError):  # no links on this file system: the files are there
            os.symlink(name, beside)
            os.replace(beside, link)


class SeverityFiles(logging.Handler):
    """The harness's own lines: a warning is in the files of WARNING and of INFO; debug lines are in those of INFO."""

    def __init__(self, settings: LogSettings, formatter: logging.Formatter) -> None:
        super().__init__()
        self.setFormatter(formatter)
        folder = make_folder(settings)
        self._files = [(_SeverityFile(folder, name, settings.max_log_size), level) for name, level in SEVERITIES]

    def emit(self, record: logging.LogRecord) -> None:
        """See ``logging.Handler``."""
        try:
            line = (self.format(record) + "\n").encode("utf-8", "backslashreplace")
            for file, level in self._files:
                if record.levelno >= level:
                    file.write(line)
        except Exception:
            self.handleError(record)
