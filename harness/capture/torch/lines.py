"""Lines of programs: who asks for an operator that runs."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path
from types import CodeType, FrameType

import torch

from harness.capture.normalise import source_path

_FSDP = f"{os.sep}distributed{os.sep}fsdp{os.sep}"
#: frames between an operator and who asks for it, PyTorch's own wrappers
_NEAR = 8
_HARNESS = Path(__file__).parents[2]
#: packages whose lines are not a network's: PyTorch, and the packages of the harness that run networks
_LIBRARIES = tuple(
    f"{folder}{os.sep}"
    for folder in (os.path.dirname(torch.__file__), *(_HARNESS / name for name in ("backends", "capture", "framework")))
)


#: where packages are installed, and Python's own modules
_INSTALLED = tuple({f"{each}{os.sep}" for name, each in sysconfig.get_paths().items() if name.endswith("lib")})
_USERS, _LIBRARYS, _PYTORCHS, _CALLER = "user", "library", "PyTorch", "caller"


class Lines:
    """The lines of a program.

    Args:
        rootdir: source paths are given relative to it.
    """

    def __init__(self, rootdir: str) -> None:
        self._rootdir = rootdir
        #: where functions stand, and whose they are
        self._paths: dict[CodeType, tuple[str, str]] = {}

    def source(self) -> str | None:
        """``file.py:17``: the innermost running line of the user's own; where all are a library's, its innermost."""
        frame: FrameType | None = sys._getframe(2)
        known, library = self._paths, None
        while frame is not None:
            code = frame.f_code
            found = known.get(code)
            if found is None:
                found = known[code] = self._place(frame)
            shown, kind = found
            if kind is _USERS:
                return f"{shown}:{frame.f_lineno}"
            if kind is _CALLER and library is not None:
                break  # whoever called the watched program
            if kind is _LIBRARYS and library is None:
                library = f"{shown}:{frame.f_lineno}"
            frame = frame.f_back
        return library

    def _place(self, frame: FrameType) -> tuple[str, str]:
        """A file as shown, and whose it is."""
        path = frame.f_code.co_filename
        if frame.f_globals.get("__tracebackhide__"):  # a module that hides itself from tracebacks runs programs
            return "", _CALLER
        if path.startswith(_LIBRARIES):
            return "", _PYTORCHS
        shown = source_path(path, self._rootdir)
        return shown, _LIBRARYS if path.startswith(_INSTALLED) or not os.path.isfile(path) else _USERS


def lays_shards_out() -> bool:
    """Whether FSDP itself asks for a view: it takes them of memory that it has not filled yet."""
    if "torch.distributed.fsdp" not in sys.modules:
        return False
    frame: FrameType | None = sys._getframe(2)
    for _ in range(_NEAR):
        if frame is None:
            return False
        if _FSDP in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False


def is_pytorchs(frame: FrameType) -> bool:
    """Whether a frame runs PyTorch's own code, or the harness's."""
    return frame.f_code.co_filename.startswith(_LIBRARIES)
