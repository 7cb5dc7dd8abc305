"""The plugin's backend ``mindspore`` under the real package, as a user runs it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pytest_msdump.keys import CaseId, golden_path
from tests.subprocesses import ROOT, pytest_run

pytestmark = pytest.mark.interop

GATE = "tests/gate/test_networks.py"
FAILING = """
import numpy as np
from harness import Tensor, nn


class Net(nn.Cell):
    def construct(self, x):
        return x.sum()


def test_wrong(msdump):
    found = msdump.run(Net(), Tensor(np.ones((2, 3), np.float32)))
    assert found.asnumpy() == 5


def test_refused(msdump):
    msdump.run(Net(), Tensor(np.ones((2, 3), np.float32)), Tensor(np.ones(1, np.float32)))
"""


def arguments(python: str, *more: str) -> tuple[str, ...]:
    return ("--msdump-backend=mindspore", f"--msdump-mindspore={python}", *more)


def test_a_regenerated_golden_has_the_same_bytes(mindspore_python: str, tmp_path: Path) -> None:
    names = ("test_constants", "test_control")
    stores = [golden_path(CaseId(GATE, (name,))) for name in names]
    for store in stores:
        (tmp_path / store).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "golden" / store, tmp_path / store)
    tests = [f"{GATE}::{name}" for name in names]
    done = pytest_run(arguments(mindspore_python, "--msdump-regen", f"--msdump-golden={tmp_path}", *tests), ROOT)
    assert "2 passed" in done.stdout, done.stdout + done.stderr
    for store in stores:
        assert (tmp_path / store).read_bytes() == (ROOT / "golden" / store).read_bytes()
    assert '"mindspore": "2.10.0"' in "".join(path.read_text() for path in tmp_path.rglob("*.manifest.json"))


def test_what_fails_there_is_told_here(mindspore_python: str, tmp_path: Path) -> None:
    (tmp_path / "test_nets.py").write_text(FAILING)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    done = pytest_run(arguments(mindspore_python, "--msdump"), tmp_path)
    assert "2 failed" in done.stdout, done.stdout + done.stderr
    for text in (
        "AssertionError: assert ",
        "test_nets.py",
        "in test_wrong",
        "in test_refused",
        "array(6., dtype=float32) == 5",
    ):
        assert text in done.stdout, text
    left = {path.name for path in tmp_path.iterdir()} - {"__pycache__"}  # pytest's own
    assert left == {"pytest.ini", "test_nets.py"}
