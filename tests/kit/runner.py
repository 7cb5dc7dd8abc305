"""Stands in for GitHub's runner: carries out the steps of a composite action on this machine."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

_INPUT = re.compile(r"\$\{\{\s*inputs\.([\w-]+)\s*\}\}")


@dataclass
class Outcome:
    """What a run left.

    Attributes:
        code: exit code of the first step that failed, or 0.
        log: everything the steps printed.
        summary: the job summary, in Markdown.
        uploads: artifact's name -> paths uploaded, relative to the repository.
    """

    code: int = 0
    log: str = ""
    summary: str = ""
    uploads: dict[str, list[str]] = field(default_factory=dict)


def run(action: Path, repository: Path, inputs: Mapping[str, str], workspace: Path) -> Outcome:
    """Runs ``action`` in ``repository`` with ``inputs``; uploads go to ``workspace``."""
    described: dict[str, Any] = yaml.safe_load(action.read_text(encoding="utf-8"))
    unknown = inputs.keys() - described["inputs"].keys()
    assert not unknown, f"the action has no inputs {sorted(unknown)}"
    given = {name: str(each.get("default", "")) for name, each in described["inputs"].items()} | dict(inputs)
    outcome, summary = Outcome(), workspace / "summary.md"
    summary.touch()
    for step in described["runs"]["steps"]:
        condition = step.get("if", "success()")
        assert condition in ("success()", "failure()", "always()")
        if condition == ("failure()" if outcome.code == 0 else "success()"):
            continue
        if "uses" in step:
            _upload(step, given, repository, workspace, outcome)
        else:
            _shell(step, given, repository, summary, outcome)
    outcome.summary = summary.read_text(encoding="utf-8")
    return outcome


def _filled(text: str, given: Mapping[str, str]) -> str:
    return _INPUT.sub(lambda found: given[found[1]], text)


def _shell(step: Mapping[str, Any], given: Mapping[str, str], repository: Path, summary: Path, out: Outcome) -> None:
    own = {name: _filled(str(value), given) for name, value in step.get("env", {}).items()}
    environ = os.environ | {"CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary)} | own
    assert step["shell"] == "bash"
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", _filled(step["run"], given)]
    done = subprocess.run(command, cwd=repository, env=environ, capture_output=True, text=True, check=False)
    out.log += done.stdout + done.stderr
    out.code = out.code or done.returncode


def _upload(step: Mapping[str, Any], given: Mapping[str, str], repository: Path, to: Path, out: Outcome) -> None:
    assert step["uses"].startswith("actions/upload-artifact@")
    name = _filled(step["with"]["name"], given)
    for line in _filled(step["with"]["path"], given).split():
        found = repository / line
        if found.exists():
            target = to / name / line
            target.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if found.is_dir() else shutil.copyfile)(found, target)
            out.uploads.setdefault(name, []).append(line)
