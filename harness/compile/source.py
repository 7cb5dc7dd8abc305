"""Where in the user's (and the layers') source a node comes from."""

from __future__ import annotations

import linecache
import sys
import sysconfig
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from types import CodeType, FrameType

from harness.graph import SourceLine

_HARNESS = str(Path(__file__).resolve().parents[1])
#: rooms whose frames a reader wants to see: layers are source, the machinery below them is not
_SHOWN = (str(Path(_HARNESS, "nn")),)
_HIDDEN_FILES = (str(Path(_HARNESS, "nn", "cell.py")),)


#: Python's own library (contextlib, functools) is nobody's source
_LIBRARY = sysconfig.get_paths()["stdlib"]


@lru_cache(maxsize=4096)
def _is_users(filename: str) -> bool:
    inside = filename.startswith((_HARNESS, "<frozen"))
    return not inside and not (filename.startswith(_LIBRARY) and "site-packages" not in filename)


@lru_cache(maxsize=4096)
def _is_shown(filename: str) -> bool:
    if _is_users(filename):
        return True
    return filename.startswith(_SHOWN) and filename not in _HIDDEN_FILES


@lru_cache(maxsize=16384)
def _line(code: CodeType, lasti: int) -> SourceLine | None:
    positions = list(code.co_positions())
    line, line_end, column, column_end = positions[lasti // 2]
    if line is None:
        return None
    text = linecache.getline(code.co_filename, line).rstrip("\n")
    return SourceLine(code.co_filename, line, line_end or line, column, column_end, text)


def stack(stop: FrameType | None = None) -> tuple[SourceLine, ...]:
    """The call stack of the caller in source lines, outermost first.

    Args:
        stop: frame at which the walk ends (what called the compiled function is not part of the graph's source).
    """
    lines: list[SourceLine] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame is not stop:
        if _is_shown(frame.f_code.co_filename):
            line = _line(frame.f_code, frame.f_lasti)
            if line is not None:
                lines.append(line)
        frame = frame.f_back
    lines.reverse()
    return tuple(lines)


def user_functions(stop: FrameType | None) -> Iterator[tuple[CodeType, int]]:
    """What tells the user's functions on the stack apart, innermost first, up to the ``construct`` they are called
    from: their code and the object they are a method of (0 for none)."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame is not stop:
        code = frame.f_code
        if code.co_name == "construct":
            return
        if _is_users(code.co_filename):
            owner = frame.f_locals.get("self") if code.co_varnames[:1] == ("self",) else None
            yield code, id(owner) if owner is not None else 0
        frame = frame.f_back


def where() -> str:
    """``file.py:17`` of the innermost source line that is the user's, for error messages."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if _is_users(name):
            text = linecache.getline(name, frame.f_lineno).strip()
            return f"{name}:{frame.f_lineno}" + (f" ({text})" if text else "")
        frame = frame.f_back
    return "an unknown place"
