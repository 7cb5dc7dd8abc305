"""Other comparison tools, as the benchmarks run them. A tool that is not installed is left out, with a line that says
so."""

from __future__ import annotations

import csv
import importlib
import os
import tempfile
from pathlib import Path
from typing import Any

from benchmarks._measure import child

#: Names a Python that has msprobe and what its comparison imports; ``tests/interop/oracles.py`` makes one.
MSPROBE = "MSDUMP_INTEROP_MSPROBE"


def find(module: str) -> Any:
    """A peer's module; None (and a line that says so) if it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError:
        print(f"left out: {module.partition('.')[0]} is not installed")
        return None


def msprobe() -> Path | None:
    """The command ``msprobe``; None (and a line that says so) if it is missing."""
    python = os.environ.get(MSPROBE)
    tool = Path(python).with_name("msprobe") if python else None
    if tool is None or not tool.is_file():
        print(f"left out: msprobe; {MSPROBE} names no Python that has it")
        return None
    return tool


def msprobe_compare(
    tool: Path, golden: Path, found: Path, environ: dict[str, str] | None = None
) -> tuple[int, list[dict[str, str]], float]:
    """``msprobe compare`` of two dump trees of rank 0.

    Returns:
        Its exit status, the rows of its table (none if it wrote none), and CPU seconds of the whole command.
    """
    with tempfile.TemporaryDirectory() as out:
        command = [str(tool), "compare", "-tp", str(found), "-gp", str(golden), "-o", out, "--rank", "0"]
        status, seconds = child(command, environ)
        rows: list[dict[str, str]] = []
        for table in Path(out).glob("compare_result*.csv"):
            with table.open(encoding="utf-8-sig") as file:
                rows += csv.DictReader(file)
    return status, rows, seconds
