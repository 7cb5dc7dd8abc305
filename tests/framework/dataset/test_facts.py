"""Orders, pixels, values and refusals are those recorded from MindSpore 2.10.0.

``tests/data/dataset/facts.json`` is what ``tests/interop/dataset_facts.py`` wrote under it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.subprocesses import ROOT

RECORDED = ROOT / "tests" / "data" / "dataset" / "facts.json"


def test_facts(tmp_path: Path) -> None:
    script, out = ROOT / "tests" / "interop" / "dataset_facts.py", tmp_path / "facts.json"
    command = [sys.executable, "-m", "harness.cli", "run", str(script), str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found, recorded = json.loads(out.read_text()), json.loads(RECORDED.read_text())
    assert len(recorded) > 400
    assert list(found) == list(recorded)
    assert {name: value for name, value in found.items() if value != recorded[name]} == {}
