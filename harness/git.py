"""What git says of a project: which commit holds a file as it is, and which lines changed since."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

#: so many lines of each side of a stretch are shown, and so much of a line
_LINES, _WIDTH = 2, 160
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


class Stretch(NamedTuple):
    """Lines that changed side by side, or a whole file.

    Attributes:
        name: the file, from the project's directory.
        line: the first changed line, from 1; where lines only went, the line that follows them. 0 of a whole file.
        removed, added: the lines before and after.
        what: what happened to a whole file; empty of lines.
    """

    name: str
    line: int
    removed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    what: str = ""

    @property
    def place(self) -> str:
        """``net.py:12``, or the file alone."""
        return f"{self.name}:{self.line}" if self.line else self.name

    def holds(self, place: str) -> bool:
        """Whether ``net.py:12`` is one of its lines."""
        name, _, line = place.rpartition(":")
        return name == self.name and line.isdecimal() and 0 <= int(line) - self.line < max(len(self.added), 1)

    def shown(self) -> Iterator[str]:
        """Its lines as a difference, after its place."""
        from harness.escape import line

        lead = f"  {line(self.place)}: "
        for sign, lines in (("-", self.removed), ("+", self.added)):
            for at, each in enumerate(lines[:_LINES]):
                more = f" (and {len(lines) - _LINES} more)" if at == _LINES - 1 and len(lines) > _LINES else ""
                yield f"{lead}{sign} {line(each.strip()[:_WIDTH])}{more}"
                lead = " " * len(lead)
        if self.what:
            yield lead + self.what


def git(folder: Path, *words: str) -> str | None:
    """What git prints; None if it fails or is not there."""
    done = _run(folder, words)
    return None if done is None else done.decode("utf-8", "surrogateescape")


def content(root: Path, commit: str, name: str) -> bytes | None:
    """A file of a commit, by its name from ``root``; None if the commit lacks it."""
    return _run(root, ["show", f"{commit}:./{name}"])


def _run(folder: Path, words: Sequence[str]) -> bytes | None:
    try:
        done = subprocess.run(
            ["git", "-C", os.fspath(folder), *words], capture_output=True, timeout=20, check=False,
            stdin=subprocess.DEVNULL, env={**os.environ, "LC_ALL": "C"},
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    return done.stdout if done.returncode == 0 else None


class Held(NamedTuple):
    """The commit that wrote a file as it is now.

    Attributes:
        commit: its short name; empty if no commit holds the file as it is, or without git.
        is_cut: whether a shallow history begins there, so that an earlier one may have written the file.
    """

    commit: str
    is_cut: bool = False


def held(root: Path, file: Path) -> Held:
    """Which commit wrote ``file`` as it is."""
    name = os.fspath(file)
    if (git(root, "status", "--porcelain", "--", name) or "").strip():
        return Held("")
    commit, _, whole = (git(root, "log", "-1", "--format=%h %H", "--", name) or "").strip().partition(" ")
    if not commit:
        return Held("")
    cut = (git(root, "rev-parse", "--git-path", "shallow") or "").strip()
    try:
        return Held(commit, whole in (root / cut).read_text().split())
    except OSError:
        return Held(commit)


@cache
def changed(root: Path, commit: str) -> Sequence[Stretch]:
    """Each stretch of the repository's working tree that is not as in a commit, and files that git does not know."""
    top = (git(root, "rev-parse", "--show-toplevel") or "").rstrip("\n")
    plain = ("--no-color", "--no-ext-diff", "--no-textconv", "--no-prefix", "--no-renames", "--unified=0")
    text = git(Path(top), "-c", "core.quotePath=false", "diff", *plain, commit) or "" if top else ""
    found = [each._replace(name=_below(root, top, each.name)) for each in _stretches(text)]
    new = (git(root, "ls-files", "--others", "--exclude-standard", "-z") or "").split("\0")
    return [*found, *(Stretch(name, 0, what="new, git does not know it") for name in new if name)]


def _below(root: Path, top: str, name: str) -> str:
    return os.path.relpath(os.path.join(top, name), root).replace(os.sep, "/")


def _stretches(text: str) -> Iterator[Stretch]:
    """The changed stretches of a difference without context."""
    name, old = "", ""
    counts, line = [0, 0], 0
    removed: list[str] = []
    added: list[str] = []
    for each in [*text.split("\n"), "diff --git "]:
        if counts[0] and each.startswith("-"):
            removed.append(each[1:])
            counts[0] -= 1
        elif counts[1] and each.startswith("+"):
            added.append(each[1:])
            counts[1] -= 1
        elif each.startswith("\\"):  # no newline at the end of a file
            continue
        else:
            if name and len(removed) == len(added):  # git joins neighbours
                pairs = enumerate(zip(removed, added, strict=True))
                yield from (Stretch(name, line + at, (one,), (other,)) for at, (one, other) in pairs if one != other)
            elif name and (removed or added):
                yield Stretch(name, line, tuple(removed), tuple(added))
            removed, added = [], []
            if (hunk := _HUNK.match(each)) is not None:
                # After lines that went git names the line before them.
                line = int(hunk[2]) + (hunk[3] == "0")
                counts = [int(count) if count else 1 for count in (hunk[1], hunk[3])]
            elif each.startswith("diff --git "):
                name = ""
            elif each.startswith("--- "):
                old = each[4:].rstrip("\t")
            elif each.startswith("+++ "):
                name = each[4:].rstrip("\t")
                if os.devnull in (name, old):
                    yield Stretch(old if name == os.devnull else name, 0, what="gone" if name == os.devnull else "new")
                    name = ""
            elif each.startswith("Binary files ") and each.endswith(" differ"):
                one, _, other = each[len("Binary files ") : -len(" differ")].partition(" and ")
                what = "gone" if other == os.devnull else "new" if one == os.devnull else "other bytes"
                yield Stretch(one if other == os.devnull else other, 0, what=what)


def undone(text: str, stretches: Sequence[Stretch]) -> str:
    """A file's text with the lines that stretches of it had before."""
    lines = text.split("\n")
    for each in sorted(stretches, key=lambda each: -each.line):
        lines[each.line - 1 : each.line - 1 + len(each.added)] = each.removed
    return "\n".join(lines)
