"""A plain pytest run with the plugin installed imports neither numpy, h5py nor harness."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.subprocesses import ROOT, pytest_run

HEAVY = ("numpy", "h5py", "harness", "pydantic", "typer", "rich", "google.protobuf")
TEST = f"""
import sys


def test_nothing_heavy_is_loaded():
    assert "pytest_msdump.plugin" in sys.modules
    assert not [name for name in {HEAVY} if name in sys.modules]
"""


def test_importing_the_plugin() -> None:
    code = f"import sys, pytest_msdump.plugin; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_run_that_does_not_ask_for_it(tmp_path: Path) -> None:
    (tmp_path / "test_plain.py").write_text(TEST)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    done = pytest_run((), tmp_path)
    assert "1 passed" in done.stdout, done.stdout + done.stderr
