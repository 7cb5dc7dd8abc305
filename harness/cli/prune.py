"""``msdump prune``: removes goldens and runs that no test owns, after pytest collected all tests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from harness.atomic import temporary_directory
from harness.cli import regen

PLUGIN = "pytest_msdump.pruning"
#: names the file in which the plugin leaves its report
REPORT, DRY = "MSDUMP_PRUNE_REPORT", "MSDUMP_PRUNE_DRY"


def prune_goldens(pytest_args: Sequence[str], dry: bool, keep: dict[str, Any] | None = None) -> int:
    """Makes pytest collect all tests, and removes what none of them owns.

    Args:
        pytest_args: options for pytest; those that select tests are refused.
        dry: only list it.
        keep: receives what ``--json`` writes.

    Returns:
        0; 2 if pytest did not collect everything.
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
            if keep is not None:
                lines = [each.partition(": ") for each in told.splitlines()]
                keep |= {act: [name for head, _, name in lines if head == act] for act in ("removed", "unused")}
                keep["notes"] = ["".join(each) for each in lines if each[0] not in ("removed", "unused")]
            print(told, end="", file=sys.stderr if told.startswith("msdump: ") else sys.stdout)
            return 2 if told.startswith("msdump: ") else 0
    print(done.stdout + done.stderr, end="", file=sys.stderr)
    print(
        f"msdump: pytest did not collect the tests (exit code {done.returncode}); nothing was removed", file=sys.stderr
    )
    return 2
