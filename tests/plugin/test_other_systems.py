"""A whole life of goldens where Python has no more than it has on Windows: no ``fcntl``, no fork, no ``/proc``, no
reads at an offset, no flags of POSIX, no directory descriptors, no numbers of users.

Libraries are loaded before that is hidden: they have ways of their own there. ``docs/limitations.md`` tells what this
shows.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.ci import VARIABLES as CI_VARIABLES
from tests.subprocesses import ROOT

#: a directory whose ``sitecustomize.py`` hides them
HIDING = ROOT / "tests" / "elsewhere"
TESTS = """
import numpy as np
from harness import nn

K = 2.0


class Net(nn.Cell):
    def construct(self, x):
        return x * K


def test_values(msdump):
    msdump.check("a", {"rows": np.arange(6.0).reshape(2, 3), "text": "as it is\\n"})


def test_net(msdump):
    msdump.run(Net(), np.ones((2, 3), np.float32))
"""
SCRIPT = """
import numpy as np
import harness

harness.write("x.h5", {"a": np.arange(3)})
assert harness.check("x.h5", {"a": np.arange(3)})
try:
    harness.check("x.h5", {"a": np.arange(3) + 1})
except harness.DiffersError as error:
    assert "found is expected plus 1 everywhere" in str(error)
else:
    raise AssertionError("it differs")
"""


class Elsewhere:
    """A project in another system."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        kept = {name: value for name, value in os.environ.items() if name not in CI_VARIABLES}
        self._environment = {**kept, "PYTHONPATH": os.pathsep.join([str(HIDING), str(ROOT)])}

    def python(self, *words: str, code: int = 0) -> str:
        """What a Python there prints; it must end with ``code``."""
        about = {"cwd": self._folder, "env": self._environment}
        done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False, **about)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr


@pytest.mark.long
def test_goldens_live_where_there_is_no_posix(tmp_path: Path) -> None:
    there = Elsewhere(tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\r\n", newline="")
    (tmp_path / "test_a.py").write_text(TESTS.replace("\n", "\r\n"), newline="")
    gate = "-m", "pytest", "-q", "-p", "no:xdist", *(() if _installed(there) else ("-p", "pytest_msdump.plugin"))
    assert "2 passed" in there.python(*gate, "--msdump-regen")
    for manifest in (tmp_path / "golden").rglob("*.manifest.json"):  # as git may check them out there
        manifest.write_bytes(manifest.read_bytes().replace(b"\n", b"\r\n"))
    assert "2 passed" in there.python(*gate, "--msdump")
    (tmp_path / "test_a.py").write_text(TESTS.replace("K = 2.0", "K = 3.0"))
    failed = there.python(*gate, "--msdump", "--msdump-report=page.html", code=1)
    assert "Cause, proven by replay: y 2 -> 3 (test_a.py:10)" in failed
    assert "moved first" in there.python("-m", "harness.cli", "review", "--list", code=1)
    assert "2 changed" in there.python("-m", "harness.cli", "accept")
    assert "2 passed" in there.python(*gate, "--msdump")
    assert "everything is as written" in there.python("-m", "harness.cli", "verify", "--fix")
    there.python("-m", "harness.cli", "diff", "golden/test_a/test_net.h5", "golden/test_a/test_net.h5")
    there.python("-c", SCRIPT)


def _installed(there: Elsewhere) -> bool:
    code = "from harness.cli.regen import is_installed; print(is_installed())"
    return "True" in there.python("-c", code)
