"""Commands that messages suggest, run in a shell exactly as they are printed, from where they are printed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.deep  # some twenty processes

TESTS = """
import os
import numpy as np
import pytest
from harness import Tensor, nn

class Net(nn.Cell):
    def construct(self, x):
        return x * float(os.environ.get("FACTOR", 2))

@pytest.mark.parametrize("name", ["it's", "a b"])
def test_net(msdump, name):
    msdump.run(Net(), np.arange(4, dtype=np.float32))
"""


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, shell=True, cwd=folder, capture_output=True, text=True, timeout=600, stdin=subprocess.DEVNULL
    )


@pytest.fixture
def below(gate: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory inside of a project, with ``msdump`` and ``pytest`` on the path."""
    tools = gate.mkdir("tools")
    for name, module in (("msdump", "harness.cli"), ("pytest", "pytest")):
        (tools / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {module} "$@"\n')
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tools), prepend=os.pathsep)
    (gate.path / "pytest.ini").write_text("[pytest]\ntestpaths = tests\n")
    (gate.mkdir("tests") / "test_net.py").write_text(TESTS)
    return gate.mkdir("deep er")


def suggested(output: str, pattern: str) -> list[str]:
    return re.findall(pattern, output, flags=re.MULTILINE)


def test_a_missing_golden_is_made(below: Path) -> None:
    command = "pytest --msdump --msdump-backend=gpu '--msdump-golden=my goldens' ../tests"
    found = suggested(shell(command, below).stdout, r"^  make it: (msdump regen .*)$")
    assert len(found) == 2
    for each in found:
        done = shell(each, below)
        assert done.returncode == 0, done.stdout + done.stderr
    assert shell(command, below).returncode == 0
    assert (below / "my goldens").is_dir()


def test_what_to_run_next(below: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shell("msdump regen ../tests", below).returncode == 0
    monkeypatch.setenv("FACTOR", "3")
    failed = shell("pytest --msdump ../tests", below)
    steps = suggested(failed.stdout, r"(?:See|Meant): (msdump .*?)(?=   |$)")
    (review,) = suggested(failed.stdout, r"`(msdump review[^`]*)`")
    assert shell(f"{review} --list", below).returncode == 1
    assert [each.split()[1] for each in steps] == ["show", "regen"] * 2
    for each in steps:
        done = shell(each, below)
        assert done.returncode == 0, (each, done.stdout + done.stderr)
    assert shell("pytest --msdump ../tests", below).returncode == 0


def test_unused_goldens_are_removed(below: Path) -> None:
    assert shell("msdump regen ../tests", below).returncode == 0
    test = below.parent / "tests" / "test_net.py"
    test.write_text(test.read_text().replace('"a b"', '"other"'))
    assert shell("msdump regen ../tests", below).returncode == 0
    for folder, arguments in ((below.parent, ""), (below, "../tests")):
        stale = shell(f"pytest --msdump {arguments}", folder)
        (command,) = suggested(stale.stdout, r"until `(.*)` has removed them")
        assert stale.returncode == 1
    done = shell(command, below)
    assert done.returncode == 0
    assert "removed: " in done.stdout
    assert shell("pytest --msdump", below.parent).returncode == 0


def test_unused_goldens_of_another_directory_are_removed(below: Path) -> None:
    flag = "'--msdump-golden=my goldens'"
    assert shell(f"msdump regen {flag} ../tests", below).returncode == 0
    (below.parent / "tests" / "test_net.py").write_text(TESTS.replace('"a b"', '"other"'))
    assert shell(f"msdump regen {flag} ../tests", below).returncode == 0
    (command,) = suggested(shell(f"pytest --msdump {flag} ../tests", below).stdout, r"until `(.*)` has removed them")
    assert "removed: " in shell(command, below).stdout
    assert shell(f"pytest --msdump {flag} ../tests", below).returncode == 0


@pytest.mark.parametrize(
    "content", ["{}", "<<<<<<< ours\n=======\n>>>>>>> theirs\n", None], ids=["other", "conflict", "gone"]
)
def test_manifests_are_written_anew(below: Path, content: str | None) -> None:
    assert shell("msdump regen ../tests", below).returncode == 0
    path = next((below.parent / "golden").rglob("*.manifest.json"))
    path.unlink() if content is None else path.write_text(content)
    told = shell("pytest --msdump ../tests", below)
    assert told.returncode == 1
    command = suggested(told.stdout, r"`(msdump verify --fix [^`]*)`")[0]
    assert shell(command, below).returncode == 0
    assert shell("pytest --msdump ../tests", below).returncode == 0


def test_a_pattern_that_fits_nothing(below: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shell("msdump regen ../tests", below).returncode == 0
    monkeypatch.setenv("FACTOR", "3")
    assert shell("pytest --msdump ../tests", below).returncode == 1
    (bundle,) = (below.parent / ".msdump" / "candidates").iterdir()
    refused = shell(f"msdump accept ../{bundle.relative_to(below.parent)} --golden ../golden --only nobody", below)
    assert refused.returncode == 2
    (command,) = suggested(refused.stderr, r"`(msdump review .*)` names them")
    listed = shell(command, below)
    assert listed.returncode == 1
    assert "moved first" in listed.stdout


@pytest.mark.parametrize("flag", ["", "'--msdump-golden=golden/my own'"])
def test_goldens_are_not_written_in_ci(below: Path, monkeypatch: pytest.MonkeyPatch, flag: str) -> None:
    start = below.parent
    assert shell(f"msdump regen {flag}", start).returncode == 0
    monkeypatch.setenv("FACTOR", "3")
    monkeypatch.setenv("CI", "true")
    refused = shell(f"msdump regen {flag}", start)
    assert refused.returncode == 2
    regen, gate, review = suggested(refused.stderr, r"`([^`]*)`")
    assert shell(gate, start).returncode == 1
    assert "2 candidates left" in shell(review, start).stdout
    monkeypatch.delenv("CI")
    assert shell(regen, start).returncode == 0
    assert shell(gate, start).returncode == 0
