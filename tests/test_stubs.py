"""The stub package is what the generator writes, and mypy sees types through it."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.subprocesses import ROOT

SCRIPT = """
import harness.nn as aliased
import harness.ops as ops
from harness import Parameter, Tensor, float32, nn
from harness.common.initializer import Normal
from harness.nn import Conv2d
from harness.train import Model

reveal_type(nn.Dense)
reveal_type(aliased.Dense(2, 3))
reveal_type(Conv2d)
reveal_type(Tensor)
reveal_type(Parameter)
reveal_type(Model)
reveal_type(Normal)
reveal_type(float32)
nn.Dens
from harness.store import GoldenStore
from harness.framework.nn import Cell
reveal_type(GoldenStore)
reveal_type(Cell)
from typing import assert_type
x = Tensor([1.0])
for each in (x + 1, 2 * x, -x, x @ x, x < 1, x == x, abs(x), x // 2, 1 / x, x[0]):
    assert_type(each, Tensor)
x += 1
"""


def test_they_are_what_the_generator_writes() -> None:
    """In a process of its own, which has imported nothing but what the generator does."""
    code = """
from tests.stubs import FOLDER, files
there = {path.relative_to(FOLDER).as_posix(): path.read_text() for path in FOLDER.rglob("*") if path.is_file()}
made = files()
wrong = sorted(name for name in made.keys() | there.keys() if made.get(name) != there.get(name))
assert not wrong, f"python -m tests.stubs writes them: {wrong[:9]}"
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.long
@pytest.mark.skipif(find_spec("mypy") is None, reason="needs mypy")
def test_mypy_sees_classes(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    (site,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    others = [path for path in sys.path if path.endswith("site-packages")]
    (site / "here.pth").write_text("\n".join([str(ROOT), str(ROOT / "stubs"), *others]) + "\n")
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--python-executable", str(tmp_path / "venv" / "bin" / "python"), "script.py",
         "--cache-dir", str(tmp_path / "cache"), "--config-file", "/dev/null"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    told = dict(re.findall(r"script\.py:(\d+): (?:note: Revealed type is|error:) (.*)", done.stdout))
    lines = SCRIPT.splitlines()
    for number, line in enumerate(lines, 1):
        if line.startswith("reveal_type") and "float32" not in line:
            name = re.sub(r"\(.*", "", line.removeprefix("reveal_type(")).rpartition(".")[2].rstrip(")")
            assert name in told[str(number)], done.stdout
            assert told[str(number)].strip('"') != "Any"
        if "float32" in line and line.startswith("reveal"):
            assert "dtypes" in told[str(number)], done.stdout
        if line.lstrip().startswith(("for", "x +=", "assert_type")):
            assert str(number) not in told, done.stdout
        if line == "nn.Dens":
            assert "has no attribute" in told[str(number)]
