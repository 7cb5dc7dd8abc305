"""Makes text artefacts and source lines independent of the machine, so that goldens can hold them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import lru_cache

from harness.graph import SourceLine

#: What the lines have that ``_POINTER`` or ``_SOURCE`` changes.
_INSTANCE, _IN_FILE = "subgraph instance: ", "In file "
_POINTER = re.compile(rf"^({_INSTANCE}\S+ : )0x[0-9a-fA-F]+$")
_SOURCE = re.compile(rf"^( +# (?: - |   )?{_IN_FILE})(.*?)(:\d+(?:~\d+)?(?:, \d+~\d+)?)(?=/)")
_PLACE = re.compile(rf"^( +# (?: - |   )?{_IN_FILE}[^\n:]*?):\d+(?:~\d+)?(?:, \d+~\d+)?(?=/)")
_PACKAGES = re.compile(r"^.*/(?:site|dist)-packages/")
_OWN = re.compile(r"(?:^|/)harness/(?:framework/)?(?:nn|ops|train|tensor|compile)/")
_LIBRARY = re.compile(r"/(?:site|dist)-packages/|^(?:mindspore|torch)/|" + _OWN.pattern)


@lru_cache(maxsize=4096)
def source_path(path: str, rootdir: str) -> str:
    """A source path that does not depend on the machine.

    The harness's own layers have the package's path. Other files are relative to ``rootdir`` if they lie under it;
    installed files begin with the package's name; for all others only the file's name stays. A relative path stays.

    Args:
        rootdir: absolute path.
    """
    plain = path.replace("\\", "/")
    own = _OWN.search(plain)
    if own is not None and os.path.isabs(plain):
        return plain[own.start() :].lstrip("/")
    root = rootdir.replace("\\", "/").rstrip("/") + "/"
    installed = _PACKAGES.sub("", plain, count=1)
    if installed != plain:
        return installed
    if plain.startswith(root):
        return plain[len(root) :]
    return plain if not os.path.isabs(plain) else plain.rpartition("/")[2]


@lru_cache(maxsize=4096)
def _shown(path: str, rootdir: str) -> tuple[str, bool]:
    """``source_path``, and whether it is one of the harness's own layers."""
    shown = source_path(path, rootdir)
    return shown, _OWN.search(shown) is not None


def ir_text(text: str, rootdir: str, *, numbered: bool = True) -> str:
    """A ``.ir`` without pointers, with paths as ``source_path`` gives them, and without line numbers of the harness's
    own layers: an edit there that computes the same must not change a golden.

    Args:
        numbered: whether line numbers of other files stay.
    """
    return "\n".join([
        _line(line, rootdir, numbered) if _IN_FILE in line or line.startswith(_INSTANCE) else line
        for line in text.split("\n")
    ])  # fmt: skip


# The places of a network's lines recur in its nodes, its stages and its runs.
@lru_cache(maxsize=16384)
def _line(line: str, rootdir: str, numbered: bool) -> str:
    def normal(found: re.Match[str]) -> str:
        path, is_own = _shown(found[2], rootdir)
        return found[1] + path if is_own else found[1] + path + found[3]

    plain = _SOURCE.sub(normal, _POINTER.sub(r"\g<1>0x0", line))
    return plain if numbered else _PLACE.sub(r"\1", plain)


@lru_cache(maxsize=4096)
def is_library(path: str) -> bool:
    """True for a file of an installed package, as it lies or from its package's name, or of our own layers."""
    return _LIBRARY.search(path.replace("\\", "/")) is not None


def users_place(place: str | None) -> str:
    """``net.py:17`` as it is; empty for a place in a library or in our own layers, which a reader cannot mend."""
    return place if place and not is_library(place.rpartition(":")[0] or place) else ""


def source_of(stack: Iterable[SourceLine], rootdir: str) -> str | None:
    """``file.py:17``: the innermost line outside of libraries, else the innermost line (of the harness's own layers the
    file alone, see ``ir_text``); None for no stack.

    Args:
        stack: outermost call first.
    """
    lines = list(stack)
    if not lines:
        return None
    line = next((line for line in reversed(lines) if not is_library(line.path)), lines[-1])
    path = source_path(line.path, rootdir)
    return path if _OWN.search(path) else f"{path}:{line.line}"
