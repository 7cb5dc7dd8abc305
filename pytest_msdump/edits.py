"""Which lines of the project changed since the commit that holds a golden, as git tells it: what an engine sees names
its operators' lines, but no engine watches plain functions of arrays."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

#: so many places are named
_MOST = 5
SAID = "Changed since the golden's commit"
#: so many goldens of a process are asked for
_ASKED = 20
_HUNK = re.compile(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@")


def since(root: Path, golden: Path, known: str | None = None) -> str:
    """``Changed since the golden's commit 2e4ab7c: net.py:7, net.py:12``: changed lines of Python files that this
    process loaded. Empty where there are none, where git or the history is not at hand, or where no commit holds the
    golden as it is.

    Args:
        root: directory of the project.
        golden: the store.
        known: the line of a cause that was found; nothing is said if it is among them.
    """
    commit = _commit(root, os.fspath(golden))
    if not commit:
        return ""
    loaded = {os.path.realpath(file) for each in list(sys.modules.values()) if (file := _file(each))}
    places = [f"{name}:{line}" for name, line in _changed(root, commit) if os.path.realpath(root / name) in loaded]
    if not places or known in places:
        return ""
    more = f" and {len(places) - _MOST} more" if len(places) > _MOST else ""
    return f"{SAID} {commit}: {', '.join(places[:_MOST])}{more}"


@cache
def _commit(root: Path, golden: str) -> str:
    # A walk through a long history takes its time: the first goldens of a session are enough.
    if _commit.cache_info().currsize >= _ASKED or _git(root, "status", "--porcelain", "--", golden).strip():
        return ""
    return _git(root, "log", "-1", "--format=%h", "--", golden).strip()


def _file(module: object) -> str | None:
    file = getattr(module, "__dict__", {}).get("__file__")
    return file if isinstance(file, str) else None


@cache
def _changed(root: Path, commit: str) -> Sequence[tuple[str, int]]:
    """File and line of each changed stretch of the working tree; where lines only went, the line that follows them."""
    plain = ("--no-color", "--no-ext-diff", "--no-textconv", "--no-prefix", "--relative", "--unified=0")
    found, name = [], ""
    for line in _git(root, "-c", "core.quotePath=false", "diff", *plain, commit, "--", "*.py").split("\n"):
        if line.startswith("+++ "):
            name = line[4:].rstrip("\t")
        elif (hunk := _HUNK.match(line)) is not None:
            # After lines that went git names the line before them.
            found.append((name, int(hunk[1]) + (hunk[2] == "0")))
    return found


def _git(root: Path, *words: str) -> str:
    """What git prints; empty if it fails."""
    try:
        done = subprocess.run(
            ["git", *words], cwd=root, capture_output=True, timeout=10, check=False, env={**os.environ, "LC_ALL": "C"}
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""
