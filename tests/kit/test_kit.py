"""The CI kit: the action's steps on this machine, GitLab's template and the pre-commit hook beside what they call."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.kit.runner import run
from tests.subprocesses import ROOT, pytest_run

pytestmark = pytest.mark.long
TEST = """
import pytest
from harness import Tensor, float32, nn


@pytest.mark.msdump
def test_layer(msdump):
    msdump.run(nn.Dense(4, 2, weight_init={!r}), Tensor([[1, 2, 3, 4]], float32))
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose gate holds."""
    home = tmp_path / "repository"
    home.mkdir()
    (home / "pytest.ini").write_text("[pytest]\n")
    (home / "test_layer.py").write_text(TEST.format("ones"))
    done = pytest_run(("--msdump-regen",), home)
    assert done.returncode == 0, done.stdout + done.stderr
    return home


def act(repository: Path, tmp_path: Path) -> Any:
    # pip is there already: nothing is fetched.
    inputs = {"python": sys.executable, "requirement": "pip", "tests": "-p no:cacheprovider test_layer.py"}
    return run(ROOT / "action.yml", repository, inputs, tmp_path)


def test_a_gate_that_holds_uploads_nothing(repository: Path, tmp_path: Path) -> None:
    outcome = act(repository, tmp_path)
    assert outcome.code == 0, outcome.log
    assert "1 passed" in outcome.log
    assert not outcome.uploads


def test_a_gate_that_fails_leaves_page_and_candidates(repository: Path, tmp_path: Path) -> None:
    (repository / "test_layer.py").write_text(TEST.format("zeros"))
    before = {path: path.read_bytes() for path in (repository / "golden").rglob("*") if path.is_file()}
    outcome = act(repository, tmp_path)
    assert outcome.code == 1, outcome.log
    assert "::error file=test_layer.py,line=" in outcome.log
    assert outcome.uploads == {"msdump": ["msdump-report.html", ".msdump/candidates"]}
    assert (tmp_path / "msdump" / "msdump-report.html").read_text().startswith("<!doctype html>")
    assert {path: path.read_bytes() for path in (repository / "golden").rglob("*") if path.is_file()} == before
    # The bundle becomes the golden: what a maintainer does with the artifact.
    (bundle,) = (tmp_path / "msdump" / ".msdump" / "candidates").iterdir()
    command = [sys.executable, "-m", "harness.cli", "accept", str(bundle)]
    accepted = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)
    assert accepted.returncode == 0, accepted.stderr
    assert act(repository, tmp_path).code == 0


def test_gitlab_runs_the_same_gate() -> None:
    job = yaml.safe_load((ROOT / "ci" / "gitlab.yml").read_text(encoding="utf-8"))[".msdump"]
    gate = next(line for line in job["script"] if "pytest" in line and "install" not in line)
    assert "--msdump " in gate
    for path in ("msdump-report.html", ".msdump/candidates"):
        assert path in job["artifacts"]["paths"]
    assert f"--junitxml={job['artifacts']['reports']['junit']}" in gate
    from pytest_msdump.annotations import GITLAB_REPORT

    assert job["artifacts"]["reports"]["codequality"] == f".msdump/{GITLAB_REPORT}"


def test_the_hook_names_a_command_there_is() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    program, command = hook["entry"].split()
    assert program == "msdump"
    done = subprocess.run(
        [sys.executable, "-m", "harness.cli", command, "--help"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_inputs_are_described() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert action["runs"]["using"] == "composite"
    assert all(each["description"] for each in action["inputs"].values()), json.dumps(action["inputs"])
