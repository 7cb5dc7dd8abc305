"""Bytecode for the processes that tests start: written once, before the first of them.

A process that may write none (``PYTHONDONTWRITEBYTECODE``, a usual setting in containers) compiles every module
again, and pytest rewrites the assertions of each plugin: 0.8 of the 1.2 CPU seconds that an empty session costs.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import pytest
from _pytest.assertion import rewrite

ROOT = Path(__file__).parents[1]
COMPILED = (ROOT / "harness", ROOT / "pytest_msdump", ROOT / "tests")


def prepare(config: pytest.Config) -> None:
    """Compile this project and pytest's plugins; let neither this process nor a child write bytecode.

    Tests write a script twice within one second, which is what its time stamp counts in: bytecode would be stale.
    """
    writing = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.dont_write_bytecode = True  # an inner session of pytest may run in this process
    _run(writing, "compileall", "-q", "-x", r"/test_\w+\.py$", *map(str, COMPILED))
    with contextlib.suppress(AttributeError):  # names inside of pytest: another release may have others
        _rewritten(config, sorted((ROOT / "tests").rglob("test_*.py")))
    with tempfile.TemporaryDirectory() as empty:
        _run(writing, "pytest", "-q", "-p", "no:cacheprovider", "--msdump", "--rootdir", empty, empty)


def _rewritten(config: pytest.Config, paths: Iterable[Path]) -> None:
    """Pytest's own bytecode of the tests, whose assertions it rewrites, made by all processors together: each of
    xdist's workers would make all of it, which takes longer than to import what they test."""
    state = config.stash.get(rewrite.assertstate_key, None)
    pycs = [(path, rewrite.get_cache_dir(path) / f"{path.stem}{rewrite.PYC_TAIL}") for path in paths]
    missing = [(path, pyc) for path, pyc in pycs if rewrite._read_pyc(path, pyc) is None]
    count, children = os.cpu_count() or 1, []
    for at in range(count if state is not None and len(missing) > count else 0):
        child = os.fork()
        if not child:
            try:
                for path, pyc in missing[at::count]:
                    pyc.parent.mkdir(exist_ok=True)
                    digest, code = rewrite._rewrite_test(path, config)
                    rewrite._write_pyc(state, code, digest, pyc)
            finally:  # where it cannot, the workers do it
                os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)


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
