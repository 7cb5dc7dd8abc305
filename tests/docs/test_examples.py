"""The repositories below ``examples/``: each gate holds, and fails where the code is changed."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest
import yaml

from tests.subprocesses import ROOT, pytest_run

EXAMPLES = ROOT / "examples"
#: repository -> file, what stands in it, what somebody writes by mistake
FAULTS = {
    "mindspore-style": ("net.py", "nn.LayerNorm((8,))", "nn.LayerNorm((8,), epsilon=1e-3)"),
    "pytorch": ("net.py", "torch.relu", "torch.tanh"),
    "numpy": ("orbit.py", "1 - eccentricity**2", "1 - eccentricity"),
}


def test_each_has_a_fault() -> None:
    assert {path.name for path in EXAMPLES.iterdir() if path.is_dir()} == FAULTS.keys()


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_the_gate_holds_and_sees_a_fault(name: str, tmp_path: Path) -> None:
    if name == "pytorch" and importlib.util.find_spec("torch") is None:
        pytest.skip("PyTorch is not installed; get it with: pip install 'pytest-msdump[torch]'")
    home = tmp_path / name
    shutil.copytree(EXAMPLES / name, home, ignore=shutil.ignore_patterns("__pycache__", ".msdump", ".pytest_cache"))
    done = pytest_run(("--msdump", "-p", "no:cacheprovider"), home)
    assert done.returncode == 0, done.stdout + done.stderr
    file, right, wrong = FAULTS[name]
    text = (home / file).read_text(encoding="utf-8")
    assert right in text
    (home / file).write_text(text.replace(right, wrong), encoding="utf-8")
    done = pytest_run(("--msdump", "-p", "no:cacheprovider"), home)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "First divergence" in done.stdout


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_each_runs_the_action(name: str) -> None:
    workflow = yaml.safe_load((EXAMPLES / name / ".github" / "workflows" / "gate.yml").read_text(encoding="utf-8"))
    known = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["inputs"]
    (step,) = (each for each in workflow["jobs"]["gate"]["steps"] if "pytest-msdump" in each["uses"])
    assert step["with"].keys() <= known.keys()
