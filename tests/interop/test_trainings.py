"""Hook traces, printed lines and final weights of five small trainings are those of the real MindSpore, to 1e-5."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.interop.trees import ROOT

pytestmark = pytest.mark.interop

SCRIPT = Path(__file__).with_name("trainings.py")
NUMBER = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?")
Side = tuple[dict[str, Any], list[str]]


def results(command: list[str], out: Path) -> Side:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "GLOG_v": "4"}
    done = subprocess.run(
        [*command, str(SCRIPT), str(out)], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(out.read_text()), done.stdout.splitlines()


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory, mindspore_python: str) -> tuple[Side, Side]:
    """(own, real)."""
    out = tmp_path_factory.mktemp("trainings")
    own = results([sys.executable, "-m", "harness.cli", "run"], out / "own.json")
    return own, results([mindspore_python], out / "real.json")


def close(own: Any, real: Any, where: str) -> None:
    """Equal, numbers of a fraction to 1e-5."""
    if isinstance(real, float):
        assert own == pytest.approx(real, rel=1e-5, abs=1e-5), where
    elif isinstance(real, (list, dict)):
        assert type(own) is type(real), where
        assert len(own) == len(real), where
        if isinstance(real, dict):
            assert list(own) == list(real), where
        for key in real if isinstance(real, dict) else range(len(real)):
            close(own[key], real[key], f"{where} {key}")
    else:
        assert own == real, where


def test_traces_and_weights(sides: tuple[Side, Side]) -> None:
    (own, _), (real, _) = sides
    assert len(real) == 10
    close(own, real, "")


def test_printed_lines(sides: tuple[Side, Side]) -> None:
    (_, own), (_, real) = sides
    assert len(real) > 30
    # numpy 2 writes the type around a number; metrics in a set come in any order.
    plain = [re.sub(r"np\.float\d+\(([^)]*)\)", r"\1", line).partition("metrics: ")[0] for line in own]
    real = [line.partition("metrics: ")[0] for line in real]
    assert [NUMBER.sub("#", line) for line in plain] == [NUMBER.sub("#", line) for line in real]
    for line, other in zip(plain, real, strict=True):
        close([float(n) for n in NUMBER.findall(line)], [float(n) for n in NUMBER.findall(other)], line)
