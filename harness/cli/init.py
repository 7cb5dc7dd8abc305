"""``msdump init``: writes what a new project needs."""

from __future__ import annotations

import os
from pathlib import Path

from harness.atomic import write_held
from harness.cli.nearest import configuration
from harness.errors import HarnessError
from harness.reading import read_bytes
from harness.suggest import command

CONFIGURATION = """\
[pytest]
testpaths = tests
msdump_golden = golden
"""
ATTRIBUTES = """\
# Goldens are binary; their manifests are text, one line an operator.
/golden/**/*.h5 binary
/golden/**/*.json text eol=lf
"""
TEST = '''\
"""A first golden test: `msdump regen` writes its golden, `pytest --msdump` checks it."""

import numpy as np
import pytest


@pytest.mark.msdump
def test_first(msdump):
    values = np.linspace(0, 1, 5)
    msdump.check("squares", values**2)
'''
README = """\
Golden stores of pytest-msdump: one `.h5` for each test, and a manifest beside it for review.
`msdump regen` writes them, `msdump review` and `msdump accept` take over what CI left, `msdump verify` reads them all.
"""


def initialise(folder: Path) -> int:
    """Writes the missing files in ``folder``, and prints which were written and which existed.

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
    configured = configuration(folder)
    if configured:
        print(f"there: {configured} (goldens lie in golden/ unless its msdump_golden says otherwise)")
    else:
        _write(folder / "pytest.ini", CONFIGURATION)
    _write(folder / "golden" / "README.md", README)
    _write(folder / ".gitattributes", ATTRIBUTES)
    lacking = _lacking(folder / ".gitattributes")
    if lacking:
        print(f"add to it: {' and '.join(repr(line) for line in lacking)}")
    _write(folder / "tests" / "test_first_golden.py", TEST)
    print(f"next: {command('msdump', 'regen', within=os.path.relpath(folder))}")
    return 0


def _lacking(path: Path) -> list[str]:
    """The lines of ``ATTRIBUTES`` that a file lacks; comments do not count."""
    there = read_bytes(path, 1 << 20, HarnessError).decode(errors="replace").splitlines()
    return [line for line in ATTRIBUTES.splitlines() if not line.startswith("#") and line not in there]


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if os.path.lexists(path):
        print(f"there: {path}")
        return
    write_held(path, text.encode())
    print(f"written: {path}")
