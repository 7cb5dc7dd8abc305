"""Hook traces, printed lines and final weights of five small trainings are those of the real MindSpore, to 1e-5."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.differential.side import Side
from tests.interop.trees import ROOT

pytestmark = pytest.mark.interop

SCRIPT = Path(__file__).with_name("trainings.py")
NUMBER = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?")
Results = tuple[dict[str, Any], list[str]]


def results(side: Side, out: Path) -> Results:
    printed = side.printed(SCRIPT, out, out / "traces.json", PYTHONPATH=str(ROOT))
    return json.loads((out / "traces.json").read_text()), printed.splitlines()


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory, both: tuple[Side, Side]) -> tuple[Results, Results]:
    """(own, real)."""
    own, real = (results(side, tmp_path_factory.mktemp("trainings")) for side in both)
    return own, real


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


def test_traces_and_weights(sides: tuple[Results, Results]) -> None:
    (own, _), (real, _) = sides
    assert len(real) == 10
    close(own, real, "")


def test_printed_lines(sides: tuple[Results, Results]) -> None:
    (_, own), (_, real) = sides
    assert len(real) > 30
    # numpy 2 writes the type around a number; metrics in a set come in any order.
    plain = [re.sub(r"np\.float\d+\(([^)]*)\)", r"\1", line).partition("metrics: ")[0] for line in own]
    real = [line.partition("metrics: ")[0] for line in real]
    assert [NUMBER.sub("#", line) for line in plain] == [NUMBER.sub("#", line) for line in real]
    for line, other in zip(plain, real, strict=True):
        close([float(n) for n in NUMBER.findall(line)], [float(n) for n in NUMBER.findall(other)], line)
