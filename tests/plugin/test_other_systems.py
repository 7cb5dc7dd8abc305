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

#: What is hidden; pytest and filelock are told that this is no POSIX system.
HIDES = """
import builtins, os, sys
import asyncio, multiprocessing, pathlib, platform, random, shutil, socket, subprocess, tempfile, threading
import _pytest.compat, _pytest.pathlib, _pytest.tmpdir, faulthandler, filelock, h5py, numpy.testing, platformdirs
import pydantic, pytest, regex, rich.console, typer, xxhash

GONE = (
    "O_CLOEXEC O_NOFOLLOW O_NONBLOCK O_DIRECTORY pread preadv pwrite fork register_at_fork getuid geteuid getgid "
    "sched_getaffinity killpg setsid fchmod fchown posix_fadvise posix_fallocate uname statvfs waitid fdatasync "
    "getloadavg sendfile memfd_create copy_file_range"
)
for name in GONE.split():
    if hasattr(os, name):
        delattr(os, name)
for each in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks):
    each.clear()
filelock.FileLock = filelock.SoftFileLock
_pytest.compat.get_user_id = _pytest.tmpdir.get_user_id = lambda: None
HIDDEN = {"fcntl", "resource", "pwd", "grp", "termios"}


class Hides:
    def find_spec(self, name, path=None, target=None):
        if name in HIDDEN:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


for name in HIDDEN:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Hides())
opened = builtins.open


def open_but_proc(file, *given, **named):
    if isinstance(file, (str, os.PathLike)) and os.fspath(file).startswith("/proc"):
        raise FileNotFoundError(2, "No such file or directory", file)
    return opened(file, *given, **named)


builtins.open = open_but_proc
"""
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
        (folder / "hidden").mkdir()
        (folder / "hidden" / "sitecustomize.py").write_text(HIDES)
        kept = {name: value for name, value in os.environ.items() if name not in CI_VARIABLES}
        self._environment = {**kept, "PYTHONPATH": os.pathsep.join([str(folder / "hidden"), str(ROOT)])}

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
