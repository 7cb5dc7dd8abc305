"""What changed in the project since the commit that holds a golden: what an engine sees names its operators' lines, but
no engine watches plain functions of arrays, nor the files that they read."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.git import Held, Stretch

#: so many places are named
_MOST = 5
SAID = "Changed since the golden's commit"
#: what is said where no commit is known to hold the golden as it is
BY_TIME = "Written after the golden, by the files' times"
#: so many goldens of a process are asked for
_ASKED = 20
#: files that no result depends on, unless a loaded file names them
_TEXTS = frozenset({".md", ".rst", ".txt", ".ipynb", ".lock", ".html", ".css", ".svg", ".png"})
_SOURCES = frozenset({".py", ".pyi"})


def since(root: Path, golden: Path, known: str | None = None, proof: str = "") -> list[str]:
    """``Changed since the golden's commit 2e4ab7c:`` and the lines that changed, before and after: of Python files that
    this process loaded, then of other files. Where no commit holds the golden as it is, the loaded files that were
    written after it, by their times. Empty where nothing changed.

    Args:
        root: directory of the project.
        golden: the store.
        known: the line of a cause that was found and proven; nothing is said if it is among them.
        proof: the command that finds out which of them made the test fail.
    """
    made = _held(root, golden)
    if made is None:
        return []
    if not made.commit:
        return _later(root, golden, known)
    from harness.git import changed

    python, others = [], []
    loaded, folder = _loaded(), golden.parent.resolve()
    for each in changed(root, made.commit):
        if os.path.splitext(each.name)[1] not in _SOURCES:
            others += [] if (root / each.name).resolve().is_relative_to(folder) else [each]
        elif os.path.realpath(root / each.name) in loaded:
            python.append(each)
    if known is not None and any(each.holds(known) for each in python):
        return []
    named = _named(root, loaded, others) if others else {}
    others = [each for each in others if named[each.name] or os.path.splitext(each.name)[1] not in _TEXTS]
    found = [*python, *sorted(others, key=lambda each: not named[each.name])]
    lead = f"{SAID} {made.commit}"
    if made.is_cut:
        lead = f"Changed since commit {made.commit}, where this shallow history begins (earlier changes are not known)"
    lines = _told(lead, found)
    what = "To prove it" if len(found) == 1 else "Which of them"
    return [*lines, f"{what}: {proof}"] if lines and proof else lines


def _told(lead: str, found: Sequence[Stretch]) -> list[str]:
    if not found:
        return []
    lines = [f"{lead}:", *(line for each in found[:_MOST] for line in each.shown())]
    if len(found) > _MOST:
        more = dict.fromkeys(each.place for each in found[_MOST:])
        shown = ", ".join(map(_line, [*more][:_MOST]))
        lines.append(f"  and {len(more)} more: {shown}{', ...' if len(more) > _MOST else ''}")
    return lines


def _loaded() -> set[str]:
    return {os.path.realpath(file) for each in list(sys.modules.values()) if (file := _file(each))}


def _file(module: object) -> str | None:
    file = getattr(module, "__dict__", {}).get("__file__")
    return file if isinstance(file, str) else None


def _of_project(root: Path, loaded: set[str]) -> list[str]:
    base = f"{os.path.realpath(root)}{os.sep}"
    return [file for file in loaded if file.startswith(base) and "site-packages" not in file]


def _named(root: Path, loaded: set[str], others: Sequence[Stretch]) -> dict[str, bool]:
    """Whether a loaded file of the project has a file's name in its text."""
    texts = []
    for file in _of_project(root, loaded):
        try:
            texts.append(Path(file).read_bytes())
        except OSError:
            continue
    names = {each.name: os.path.basename(each.name).encode(errors="surrogateescape") for each in others}
    return {name: any(base in text for text in texts) for name, base in names.items()}


def _later(root: Path, golden: Path, known: str | None) -> list[str]:
    """The loaded files of the project that were written after a golden, by their times; empty if they are many, as
    after a checkout."""
    try:
        made = golden.stat().st_mtime_ns
        late = [file for file in _of_project(root, _loaded()) if os.stat(file).st_mtime_ns > made]
    except OSError:
        return []
    names = sorted(os.path.relpath(file, os.path.realpath(root)).replace(os.sep, "/") for file in late)
    if known is not None and names == [known.rpartition(":")[0]]:
        return []
    return [f"{BY_TIME}: {', '.join(map(_line, names))}"] if 0 < len(names) <= _MOST else []


def _line(text: str) -> str:
    from harness.escape import line

    return line(text)


@cache
def _held(root: Path, golden: Path) -> Held | None:
    """The commit of a golden; None after many: a walk through a long history takes its time."""
    if _held.cache_info().currsize >= _ASKED:
        return None
    from harness.git import held

    return held(root, golden)
