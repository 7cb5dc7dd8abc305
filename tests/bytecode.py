"""Bytecode for the processes that tests start: written once, before the first of them.

A process that may write none (``PYTHONDONTWRITEBYTECODE``, a usual setting in containers) compiles every module
again, and pytest rewrites the assertions of each plugin: 0.8 of the 1.2 CPU seconds that an empty session costs.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMPILED = (ROOT / "harness", ROOT / "pytest_msdump", ROOT / "tests")


def prepare() -> None:
    """Compile this project and pytest's plugins; let neither this process nor a child write bytecode.

    Tests write a script twice within one second, which is what its time stamp counts in: bytecode would be stale.
    """
    writing = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.dont_write_bytecode = True  # an inner session of pytest may run in this process
    _run(writing, "compileall", "-q", *map(str, COMPILED))
    with tempfile.TemporaryDirectory() as empty:
        _run(writing, "pytest", "-q", "-p", "no:cacheprovider", "--msdump", "--rootdir", empty, empty)


def _run(environment: dict[str, str], *words: str) -> None:
    """A module of Python's; where it cannot write, tests are slower and nothing else."""
    subprocess.run(
        [sys.executable, "-m", *words],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
