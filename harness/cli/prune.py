"""``msdump prune``: goldens and runs that no test owns go, after pytest collected all tests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

from harness.atomic import temporary_directory
from harness.cli import regen

PLUGIN = "pytest_msdump.pruning"
#: tells the plugin where to leave what it has to say
REPORT, DRY = "MSDUMP_PRUNE_REPORT", "MSDUMP_PRUNE_DRY"


def prune_goldens(pytest_args: Sequence[str], dry: bool) -> int:
    """Has pytest collect all tests, and removes what none of them owns.

    Args:
        pytest_args: options of pytest; what selects tests is refused.
        dry: name it only.

    Returns:
        0; 2 where pytest could not collect everything, or was not asked to.
    """
    with temporary_directory("msdump-prune-") as folder:
        report = folder / "report.txt"
        environment = {**os.environ, REPORT: str(report), DRY: "1" if dry else ""}
        load = [] if regen.is_installed() else ["-p", regen.PLUGIN]
        command = [sys.executable, "-m", "pytest", *load, "-p", PLUGIN, "--msdump", "--collect-only", *pytest_args]
        done = subprocess.run(
            command, env=environment, check=False, capture_output=True, text=True, encoding="utf-8", errors="replace"
        )
        if report.exists():
            told = report.read_text(encoding="utf-8")
            print(told, end="", file=sys.stderr if told.startswith("msdump: ") else sys.stdout)
            return 2 if told.startswith("msdump: ") else 0
    print(done.stdout + done.stderr, end="", file=sys.stderr)
    print(
        f"msdump: pytest did not collect the tests (exit code {done.returncode}); nothing was removed", file=sys.stderr
    )
    return 2
