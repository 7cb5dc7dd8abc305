"""Casts that do not fit, ties of TopK, ``max``, mixed dtypes, sums beyond float32, ``flatten``: as on a real CPU."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.subprocesses import ROOT

DATA = ROOT / "tests" / "data" / "ops" / "edges.json"
PROGRAM = ROOT / "tests" / "interop" / "edge_facts.py"


def facts(command: list[str], folder: Path) -> dict[str, Any]:
    """What ``command`` makes of the program."""
    out = folder / "facts.json"
    done = subprocess.run(
        [*command, str(PROGRAM), str(out), str(folder)], capture_output=True, text=True, check=False, cwd=folder
    )
    assert done.returncode == 0, done.stderr[-4000:]
    found: dict[str, Any] = json.loads(out.read_text())
    return found


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return facts([sys.executable, "-m", "harness.cli", "run"], tmp_path_factory.mktemp("edges"))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("part", ["casts", "ties", "forms", "mixed", "sums", "searches", "flattened", "drawn"])
def test_edges_are_those_recorded(part: str, own: dict[str, Any]) -> None:
    assert own[part] == json.loads(DATA.read_text())[part]
