"""``msdump init``: writes what a new project needs, where its own configuration of pytest looks for it."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from harness.atomic import write_held
from harness.cli import git
from harness.cli.nearest import Configured, configuration, configured, configured_above
from harness.errors import HarnessError
from harness.reading import read_bytes
from harness.suggest import command

CONFIGURATION = """\
[pytest]
testpaths = tests
msdump_golden = golden
"""
TEST = '''\
"""A first golden test: `msdump regen` writes its golden, `pytest --msdump` checks it."""

import numpy as np
import pytest


@pytest.mark.msdump
def {name}(msdump):
    values = np.linspace(0, 1, 5)
    msdump.check("squares", values**2)
'''
README = """\
Golden stores of pytest-msdump: one `.h5` for each test, and a manifest beside it for review.
`msdump regen` writes them, `msdump review` and `msdump accept` take over what CI left, `msdump verify` reads them all.
"""


def attributes(golden: str) -> str:
    """The lines of ``.gitattributes`` for a directory of goldens; empty where the file lies in that directory."""
    lead = f"/{golden.strip('/')}/" if golden else ""
    return (
        "# Goldens are binary; once `msdump init` has run in a clone, `git diff` shows them as text.\n"
        "# Their manifests are text, one line an operator.\n"
        f"{lead}**/*.h5 binary diff=msdump merge=msdump\n"
        f"{lead}**/*.json text eol=lf\n"
    )


def initialise(folder: Path, keep: dict[str, Any] | None = None) -> int:
    """Writes the missing files in ``folder``, and prints which were written and which existed. In a git repository it
    also tells git, for this clone, how to show and merge goldens. ``keep`` receives what ``--json`` writes.

    Returns:
        0.

    Raises:
        HarnessError: ``folder`` is a file, or lies in one.
        OSError: a file cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise HarnessError(f"{folder}: a directory is accepted, a file is in its place") from None
    files: dict[str, list[str]] = {"written": [], "there": []}
    own = configuration(folder)
    if own:
        print(f"there: {own} (goldens lie in {configured(folder).golden}/)")
    else:
        _write(folder / "pytest.ini", CONFIGURATION, files)
        above = configured_above(folder)
        if above:
            print(f"note: {above} configures pytest too; started there, it looks for other goldens than started here")
    settings = configured(folder)
    inside = not settings.golden.startswith("..") and not os.path.isabs(settings.golden)
    _write(folder / settings.golden / "README.md", README, files)
    wanted = attributes(settings.golden if inside else "")
    held = folder / ("" if inside else settings.golden) / ".gitattributes"
    _write(held, wanted, files)
    missing = lacking(held, wanted)
    if missing:
        print(f"add to it: {' and '.join(repr(line) for line in missing)}")
    for each in (*git.teach(folder), *git.ignored(folder, Path(settings.golden) / "test_first.h5")):
        print(each)
    place, collected = first_test(folder, settings)
    _write(place, TEST.format(name=_function(settings.functions)), files)
    named = [] if collected else [Path(os.path.relpath(place, folder))]
    following = command("msdump", "regen", *named, within=os.path.relpath(folder))
    print(f"next: {following}")
    if keep is not None:
        keep |= {**files, "next": following}
    return 0


def first_test(folder: Path, settings: Configured) -> tuple[Path, bool]:
    """Where the first test goes, and whether pytest collects it when no file is named."""
    name = next((each for pattern in settings.files if (each := _file(pattern))), "")
    collected = bool(name)
    where = [each for pattern in settings.testpaths for each in _directories(folder, pattern)]
    if settings.testpaths and not where:
        collected = False
    if not where:
        where = [folder / each for each in ("tests", "test") if (folder / each).is_dir()] or [folder / "tests"]
    return where[0] / (name or "test_first_golden.py"), collected


def _directories(folder: Path, pattern: str) -> list[Path]:
    """The directories that an entry of ``testpaths`` names; one that does not exist yet is to be made."""
    try:
        found = sorted(each for each in folder.glob(pattern) if each.is_dir())
    except (ValueError, NotImplementedError, IndexError):  # an absolute or empty pattern
        return [Path(pattern)] if os.path.isdir(pattern) else []
    missing = not re.search(r"[*?\[]", pattern) and not (folder / pattern).exists() and not pattern.endswith(".py")
    return [folder / pattern] if missing else found


def _file(pattern: str) -> str:
    """A file's name that fits an entry of ``python_files``; empty if none of a plain kind does."""
    for name in ("test_first_golden.py", pattern.replace("*", "first_golden"), pattern.replace("*", "test_first")):
        if name.endswith(".py") and re.fullmatch(r"[\w.-]+", name) and fnmatch(name, pattern):
            return name
    return ""


def _function(patterns: Sequence[str]) -> str:
    """A function's name that fits an entry of ``python_functions``: the beginning of a name, or a pattern."""
    for each in patterns:
        name = "test_first" if "test_first".startswith(each) else ""
        name = name or (each.replace("*", "first") if "*" in each else f"{each.rstrip('_')}_first")
        if name.isidentifier() and (name.startswith(each) or fnmatch(name, each)):
            return name
    return "test_first"


def lacking(path: Path, wanted: str) -> list[str]:
    """The lines that a file lacks, all if there is none; comments do not count."""
    there = []
    if path.exists():
        there = read_bytes(path, 1 << 20, HarnessError).decode(errors="replace").splitlines()
    return [line for line in wanted.splitlines() if not line.startswith("#") and line not in there]


def _write(path: Path, text: str, files: dict[str, list[str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    done = "there" if os.path.lexists(path) else "written"
    if done == "written":
        write_held(path, text.encode())
    files[done].append(str(path))
    print(f"{done}: {path}")
