"""Goldens under git: branches that change two goldens merge; those that change the same one are mended; a repository
with the one manifest of earlier versions is taken over as it is."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.cli import main
from harness.store import manifest

pytest_plugins = ["pytester"]

TESTS = """
import numpy as np
import pytest

@pytest.mark.parametrize("name", ["one", "two"])
def test_net(msdump, name):
    factor = {"one": 1.0, "two": 1.0}[name]
    msdump.check("value", np.arange(4.0) * factor)
"""
pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not here")


class Branches:
    """A repository of ``msdump init`` with two goldens."""

    def __init__(self, gate: pytest.Pytester) -> None:
        self.gate, self.root = gate, gate.path
        assert main(["init", "."]) == 0
        (self.root / "tests" / "test_first_golden.py").unlink()
        (self.root / "tests" / "test_net.py").write_text(TESTS)
        self.git("init", "--quiet", "--initial-branch=main")
        self.regenerated("first")

    def git(self, *words: str, code: int = 0) -> str:
        command = ["git", "-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false", *words]
        done = subprocess.run(command, cwd=self.root, capture_output=True, text=True, timeout=600)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def regenerated(self, message: str) -> None:
        self.gate.runpytest("--msdump-regen").assert_outcomes(passed=2)
        self.git("add", ".")
        self.git("commit", "--quiet", "-m", message)

    def changed(self, branch: str, name: str, factor: str) -> None:
        """A branch off main on which a network, and so its golden, changed."""
        self.git("checkout", "--quiet", "-B", branch, "main")
        path = self.root / "tests" / "test_net.py"
        # A line of its own, so that only goldens can conflict.
        path.with_name(f"{branch}.py").write_text("")
        self.git("add", ".")
        text = path.read_text()
        self.factor = text.replace(f'"{name}": 1.0', f'"{name}": {factor}')
        path.write_text(self.factor)
        self.gate.runpytest("--msdump-regen").assert_outcomes(passed=2)
        self.git("checkout", "--quiet", "--", "tests/test_net.py")
        self.git("add", ".")
        self.git("commit", "--quiet", "-m", branch)


@pytest.fixture
def branches(gate: pytest.Pytester) -> Branches:
    return Branches(gate)


@pytest.mark.long
def test_branches_that_change_two_goldens_merge(branches: Branches, capsys: pytest.CaptureFixture[str]) -> None:
    branches.changed("left", "one", "2.0")
    branches.changed("right", "two", "3.0")
    branches.git("merge", "--quiet", "--no-edit", "left")
    assert main(["verify"]) == 0
    path = branches.root / "tests" / "test_net.py"
    path.write_text(TESTS.replace('"one": 1.0', '"one": 2.0').replace('"two": 1.0', '"two": 3.0'))
    result = branches.gate.runpytest("--msdump")
    result.assert_outcomes(passed=2)
    assert result.ret == 0


@pytest.mark.long
@pytest.mark.sampled(2)
@pytest.mark.parametrize("mended", ["regen", "verify"])
def test_one_golden_changed_on_both_sides(branches: Branches, mended: str, capsys: pytest.CaptureFixture[str]) -> None:
    branches.changed("left", "one", "2.0")
    branches.changed("right", "one", "3.0")
    branches.git("merge", "--quiet", "--no-edit", "left", code=1)
    capsys.readouterr()
    assert main(["verify"]) == 1
    out = capsys.readouterr().out
    assert "conflict markers" in out
    (branches.root / "tests" / "test_net.py").write_text(branches.factor)
    if mended == "regen":
        branches.gate.runpytest("--msdump-regen").assert_outcomes(passed=2)
    else:
        assert main(["verify", "--fix"]) == 0
    assert main(["verify"]) == 0
    assert branches.gate.runpytest("--msdump").ret == 0


def test_a_repository_with_one_manifest_is_taken_over(branches: Branches) -> None:
    """What versions before 0.2.0 wrote: no manifest beside a store, one for all."""
    golden: Path = branches.root / "golden"
    stores = manifest.read(golden)["stores"]
    kept = [{name: entry[name] for name in ("network", "runs")} for entry in stores.values()]
    one = {"format": manifest.FORMAT, "version": 1, "stores": dict(zip(stores, kept, strict=True))}
    for path in golden.rglob("*.manifest.json"):
        path.unlink()
    (golden / "MANIFEST.json").write_text(json.dumps(one, indent=1, sort_keys=True))
    before = {path: path.read_bytes() for path in golden.rglob("*") if path.is_file()}
    assert branches.gate.runpytest("--msdump").ret == 0
    assert main(["verify"]) == 0
    assert {path: path.read_bytes() for path in golden.rglob("*") if path.is_file()} == before
    branches.gate.runpytest("--msdump-regen").assert_outcomes(passed=2)
    assert not (golden / "MANIFEST.json").exists()
    assert manifest.read(golden)["stores"].keys() == stores.keys()
    assert branches.gate.runpytest("--msdump").ret == 0
