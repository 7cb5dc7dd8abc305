"""A key of a table of tolerances to which nothing belongs is told, and no other."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import harness
from harness.cli import main
from harness.compare import Tolerances, check
from harness.compare.idle import idle
from harness.errors import ToleranceError
from tests.compare.helpers import operator
from tests.examples import examples

OPERATORS = {"net/a-A/MatMul-op0": "MatMul", "net/b-B/ReLU-op0": "ReLU", "check/state.hidden": "state"}
KEYS = [
    "MatMul",
    "MatMull",
    "ReLU",
    "state",
    "state.hidden",
    "hidden",
    "net/*",
    "*:output.0",
    "*:input.7",
    "x/*",
    "float32",
]


@given(table=st.dictionaries(st.sampled_from(KEYS), st.just(1e-3), min_size=1))
@examples(30, 500)
def test_what_fits_no_slot_is_idle(table: dict[str, float]) -> None:
    x = np.ones(3, np.float32)
    slots = check(*[[each for name, kind in OPERATORS.items() for each in operator(name, [x], [x], kind)]] * 2).every()
    names = [*OPERATORS, *(f"{name}:{io}.0" for name in OPERATORS for io in ("input", "output"))]
    wanted = {
        key
        for key in table
        if key != "float32" and key not in OPERATORS.values() and not any(fnmatchcase(each, key) for each in names)
    }
    found = idle(Tolerances.parse({"default": 1e-3, **table}), slots)
    assert {each.key for each in found} == wanted
    assert {each.near for each in found if each.key == "state.hidden"} <= {"check/state.hidden"}


def test_values_without_pytest(tmp_path: Path) -> None:
    golden = tmp_path / "step.h5"
    values = {"loss": 0.25, "state": {"w": np.ones(2)}}
    harness.write(golden, values)
    assert harness.check(golden, values, tolerance={"loss": 1e-3, "check/state.w": 1e-2, "float16": 1}).holds
    for key, near in (("los", "loss is one"), ("state.w", "check/state.w is one"), ("x/*", "")):
        with pytest.raises(ToleranceError, match=f"'{key[0]}.*, the type or name of nothing here.*{near}"):
            harness.check(golden, values, tolerance={"default": 1e-3, key: 1e-3})


def test_a_command_says_it_of_a_stored_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    golden = tmp_path / "step.h5"
    harness.write(golden, {"loss": 0.25}, tolerance={"default": 1e-3, "lsos": 1})
    assert harness.check(golden, {"loss": 0.25}).holds
    assert main(["diff", str(golden), str(golden)]) == 0
    assert "a tolerance is stated for 'lsos', the type or name of nothing here; loss is one" in capsys.readouterr().err
