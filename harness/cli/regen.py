"""``msdump regen``: makes pytest rewrite the goldens of the selected tests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import entry_points
from pathlib import Path

from harness.atomic import temporary_directory
from harness.escape import text

PLUGIN = "pytest_msdump.plugin"
# pytest: 0 passed, 1 tests failed; anything else (interrupted, internal error, usage, nothing collected) gives no
# result.
_CODES = {0: 0, 1: 1}
_NOTHING, _USAGE = 5, 4


def regenerate(pytest_args: Sequence[str], as_json: Path | None = None) -> int:
    """Runs ``pytest --msdump-regen`` with more arguments, in a separate process.

    Args:
        pytest_args: files, ``-k``, ``--lf``, ...; goldens of other tests stay as they are.
        as_json: file for the session's results; ``-`` for standard output, instead of pytest's text.

    Returns:
        0 if all goldens were written, 1 if a test failed, 2 if pytest could not run the tests or wrote no golden.
    """
    code = run_pytest(["--msdump-regen", *pytest_args], as_json)
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


def run_pytest(arguments: Sequence[str], as_json: Path | None = None) -> int:
    """Runs pytest with the plugin, and gives its exit code.

    Args:
        arguments: pytest's.
        as_json: file for the session's results; ``-`` for standard output, instead of pytest's text.
    """
    if as_json is None:
        return subprocess.run(by_pytest(*arguments), check=False).returncode
    from harness.report.results import STANDARD

    if as_json != STANDARD:
        return subprocess.run(by_pytest(f"--msdump-json={as_json}", *arguments), check=False).returncode
    with temporary_directory("msdump-results-") as folder:
        file = folder / "results.json"
        command = by_pytest(f"--msdump-json={file}", *arguments)
        ended = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True, errors="replace")
        if file.is_file():
            print(file.read_text(encoding="utf-8"))
        else:
            print(ended.stdout, file=sys.stderr)
    return ended.returncode


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
