"""What git is told of goldens: how to show a change of one, and how to merge two."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from harness.git import git
from harness.suggest import quoted

#: Name of the drivers in ``.gitattributes`` and in git's configuration.
DRIVER = "msdump"


def teach(folder: Path) -> Iterator[str]:
    """Sets the drivers in the configuration of this clone; lines that say so, none outside of git.

    They name this Python, so that ``git diff`` works whatever is on the path; if it is gone, the text says that.
    """
    if _git(folder, "rev-parse", "--is-inside-work-tree") != "true":
        return
    if all(_git(folder, "config", "--local", "--get", name) == value for name, value in settings().items()):
        yield f"there: git's drivers {DRIVER} (`git diff` shows what moved in a golden)"
        return
    for name, value in settings().items():
        if _git(folder, "config", "--local", name, value) is None:
            yield f"git could not be told of goldens: git config {name} failed"
            return
    yield f"set: git's drivers {DRIVER}, in this clone only (`git diff` shows what moved in a golden)"


def settings() -> dict[str, str]:
    """The rows of git's configuration: name and value."""
    python = quoted(sys.executable)
    shown = f'{python} -m harness.cli textconv "$1" || echo "msdump could not show it; run msdump init again"'
    return {
        f"diff.{DRIVER}.textconv": f"f() {{ {shown}; }}; f",
        f"merge.{DRIVER}.name": "runs of a golden that only one side changed are taken from it",
        f"merge.{DRIVER}.driver": f"{python} -m harness.cli merge %O %A %B --path %P",
    }


def taught(folder: Path) -> bool | None:
    """Whether this clone has the driver that shows goldens; None outside of git."""
    if _git(folder, "rev-parse", "--is-inside-work-tree") != "true":
        return None
    return bool(_git(folder, "config", "--get", f"diff.{DRIVER}.textconv"))


def ignored(folder: Path, golden: Path) -> Iterator[str]:
    """A line if git would leave goldens out of commits: CI would then find none."""
    rule = _git(folder, "check-ignore", "-v", "--no-index", os.fspath(golden))
    if rule:
        by = rule.partition("\t")[0]
        yield f"note: git ignores {golden.parent}/*.h5 ({by}); goldens belong into the repository"


def _git(folder: Path, *words: str) -> str | None:
    """What git prints, without blank ends; None if it fails."""
    said = git(folder, *words)
    return None if said is None else said.strip()
