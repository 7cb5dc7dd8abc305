"""``msdump run -m`` and ``msdump env``: pytest, and any Python of a shell, where ``mindspore`` is this project."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from harness.cli import main

ROOT = Path(__file__).resolve().parents[2]
SUITE = """
import mindspore
import mindspore.nn as nn
from mindspore import Tensor

def test_sum():
    assert mindspore.__name__ == "harness.framework"
    assert nn.ReLU()(Tensor([-1.0, 2.0])).asnumpy().tolist() == [0, 2]
"""


def ended(command: list[str], directory: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=directory,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_module_runs_as_behind_python_m(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text(SUITE)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "harness.cli", "run", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    found = ended([*command, "test_one.py"], tmp_path)
    assert found.returncode == 0, found.stdout + found.stderr
    assert "1 passed" in found.stdout
    assert ended([*command, "no_such.py"], tmp_path).returncode == 4


def test_a_module_that_is_not_there_is_told() -> None:
    assert main(["run", "-m", "no_such_module_of_anybodys"]) == 2


def test_a_shell_with_the_environment_finds_this_project(tmp_path: Path) -> None:
    program = "import mindspore.nn as nn, mindspore as ms; from mindspore import Tensor; print(ms.__name__, nn.ReLU)"
    command = f'eval "$({sys.executable} -m harness.cli env)"; {sys.executable} -c "{program}"'
    found = ended(["bash", "-c", command], tmp_path)
    assert found.stdout == "harness.framework <class 'harness.framework.nn.activation.ReLU'>\n", found.stderr
