"""Runs pytest in a process of its own, with the plugin loaded whether or not this distribution is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import entry_points
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLUGIN = "pytest_msdump.plugin"
INSTALLED = any(entry.value == PLUGIN for entry in entry_points(group="pytest11"))


def pytest_run(
    arguments: Sequence[str], directory: Path, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """``pytest ARGUMENTS`` in ``directory``, outside CI unless ``environment`` says so; never raises for a failure."""
    kept = {key: value for key, value in os.environ.items() if key != "CI" and not key.startswith("PYTEST_")}
    loaded = () if INSTALLED else ("-p", PLUGIN)
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *loaded, *arguments],
        cwd=directory,
        env={**kept, "PYTHONPATH": str(ROOT), **(environment or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
