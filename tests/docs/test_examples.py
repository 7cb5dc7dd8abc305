"""The repositories below ``examples/``: each gate holds, and fails where the code is changed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
import yaml

from tests.docs.examples import EXAMPLES, FAULTS, holds_and_sees_a_fault
from tests.subprocesses import ROOT, pytest_run


def test_each_has_a_fault() -> None:
    """The package of extensions is no gate: ``tests/testing/suites`` proves it."""
    assert {path.name for path in EXAMPLES.iterdir() if path.is_dir()} == {*FAULTS, "extension"}


@pytest.mark.deep  # tox -e docs and tox -e release run them
@pytest.mark.parametrize("name", sorted(FAULTS))
def test_the_gate_holds_and_sees_a_fault(name: str, tmp_path: Path) -> None:
    if name == "pytorch" and importlib.util.find_spec("torch") is None:
        pytest.skip("PyTorch is not installed; get it with: pip install 'pytest-msdump[torch]'")
    holds_and_sees_a_fault(name, tmp_path / name, pytest_run)


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_each_runs_the_action(name: str) -> None:
    workflow = yaml.safe_load((EXAMPLES / name / ".github" / "workflows" / "gate.yml").read_text(encoding="utf-8"))
    known = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["inputs"]
    (step,) = (each for each in workflow["jobs"]["gate"]["steps"] if "pytest-msdump" in each["uses"])
    assert step["with"].keys() <= known.keys()
