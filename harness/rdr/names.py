"""Names of recorder files and directories.

Source: MindSpore 2.7.0 CPU (the last release with the recorder), measured. Modules are the sub-modules of the log
(``harness.log.submodules``).
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from harness import log

MAX_NAME = 64
"""Characters of a recorder's name; a longer one is cut."""
MAX_FILE_NAME = 255
"""Bytes of a file name before its extension."""
HWOPT = "hwopt_d_before_graph_"
"""The documents name this file of an Ascend run without module and timestamp."""
_NAME = re.compile(
    r"(?P<module>[A-Z_]*)\.(?P<name>.*)\.(?P<timestamp>[0-9]{14})(?:_(?P<number>[0-9]{4,}))?\.(?P<extension>ir|pb|txt|json|dat)",
    re.DOTALL,
)
_HWOPT_NAME = re.compile(rf"(?P<name>{HWOPT}[0-9]+)\.ir")
_LEADING_NUMBER = re.compile(r"\s*([+-]?[0-9]{1,20})")
_STAMP = "%Y%m%d%H%M%S"
_log = log.get("rdr.names")

Clock = Callable[[], str]


def timestamp() -> str:
    """The current local time in 14 digits: ``20261120135518``."""
    return time.strftime(_STAMP)


def after(former: str, stamp: str) -> str:
    """``stamp``, or the second after ``former`` if that is later; a stamp that is not a time stays unchanged."""
    try:
        following = datetime.strptime(former, _STAMP) + timedelta(seconds=1)
        return max(stamp, following.strftime(_STAMP))
    except (ValueError, OverflowError):
        return stamp


def limited(name: str) -> str:
    """``name``, cut to ``MAX_NAME`` characters with a warning."""
    if len(name) <= MAX_NAME:
        return name
    cut = name[:MAX_NAME]
    _log.warning("rdr: the name length is %d, exceeding the limit %d; it is cut to %r", len(name), MAX_NAME, cut)
    return cut


def file_name(module: str, name: str, stamp: str, extension: str, number: int | None = None) -> str:
    """``SESSION.graph_build.0.20261120135518_0012.ir``; ``number`` only for the texts of graphs."""
    tail = "" if number is None else f"_{number:04d}"
    return f"{module}.{name}.{stamp}{tail}.{extension}"


@dataclass(frozen=True, slots=True)
class FileName:
    """What a file's name says; ``module`` and ``timestamp`` are empty for the documented ``hwopt`` name."""

    module: str
    name: str
    timestamp: str
    extension: str
    number: int | None = None


def parse(text: str) -> FileName | None:
    """Parses a file name; None for one that the recorder does not use."""
    if found := _NAME.fullmatch(text):
        number = None if found["number"] is None else int(found["number"])
        return FileName(found["module"], found["name"], found["timestamp"], found["extension"], number)
    if found := _HWOPT_NAME.fullmatch(text):
        return FileName("", found["name"], "", "ir")
    return None


def rank_of(environ: Mapping[str, str]) -> int:
    """N of ``rank_N``: ``OMPI_COMM_WORLD_RANK``, else ``RANK_ID``, else 0; leading digits count, in 32 bits (measured).

    A value that is not a number, or too large, gives 0 with a warning (MindSpore ends the process).
    """
    for variable in ("OMPI_COMM_WORLD_RANK", "RANK_ID"):
        text = environ.get(variable, "")
        if not text:
            continue
        found = _LEADING_NUMBER.match(text[:80])
        if found is not None and -(2**31) <= int(found[1]) < 2**31:
            return int(found[1]) % 2**32
        _log.warning("rdr: %s is %r; it must begin with a number of 32 bits; rank 0 is taken", variable, text[:80])
        return 0
    return 0
