"""``msdump regen``: makes pytest rewrite the goldens of the selected tests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import entry_points

from harness.escape import text

PLUGIN = "pytest_msdump.plugin"
# pytest: 0 passed, 1 tests failed; anything else (interrupted, internal error, usage, nothing collected) gives no
# result.
_CODES = {0: 0, 1: 1}
_NOTHING, _USAGE = 5, 4


def regenerate(pytest_args: Sequence[str]) -> int:
    """Runs ``pytest --msdump-regen`` with more arguments, in a separate process.

    Args:
        pytest_args: files, ``-k``, ``--lf``, ...; goldens of other tests stay as they are.

    Returns:
        0 if all goldens were written, 1 if a test failed, 2 if pytest could not run the tests or wrote no golden.
    """
    code = subprocess.run(by_pytest("--msdump-regen", *pytest_args), check=False).returncode
    if code == _NOTHING:
        where = f"msdump: no golden was written by the tests of {text(os.getcwd())}; name them, or start where they lie"
        print(where, file=sys.stderr)
    if code == _USAGE and any(_is_foreign(each) for each in pytest_args):
        print(
            "msdump: these are options of pytest; the gate's begin with --msdump-: --msdump-backend=gpu",
            file=sys.stderr,
        )
    return exit_code_of(code)


def exit_code_of(code: int) -> int:
    """The exit code of a command that ran pytest, by pytest's."""
    return _CODES.get(code, 2)


def by_pytest(*arguments: str) -> list[str]:
    """The command that runs pytest with the plugin, in a process of its own."""
    load = [] if is_installed() else ["-p", PLUGIN]
    return [sys.executable, "-m", "pytest", *load, *arguments]


def _is_foreign(argument: str) -> bool:
    """Whether an argument is an option of another command of ours, which pytest does not have."""
    return argument.partition("=")[0] in (
        "--backend",
        "--mode",
        "--golden",
        "--level",
        "--tolerance",
        "--only",
        "--granularity",
    )


def is_installed() -> bool:
    """Whether pytest loads the plugin by itself."""
    return any(entry.value == PLUGIN for entry in entry_points(group="pytest11"))
