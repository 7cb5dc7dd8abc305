"""Comparisons as SARIF, CTRF and Chrome traces: each operator once, with its role; JSON that others can read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cli import main
from harness.compare.divergence import Execution
from harness.compare.spread import Role, SpreadRow
from harness.report.exports import colour, endings, exported
from tests.capture.logs import build

ENDINGS = endings()
STEP = st.builds(
    SpreadRow,
    st.builds(Execution, st.integers(0, 2), st.integers(0, 2), st.integers(0, 2), st.text(max_size=8), st.just(0)),
    st.text(max_size=5),
    st.sampled_from([None, "net.py:17", "a b/c.py:3", "odd"]),
    st.sampled_from(list(Role)),
    st.none() | st.floats(min_value=0),
    st.none() | st.floats(min_value=0),
    st.just(()),
    st.just(()),
)


def written(folder: Path, seed_of_b: float) -> dict[str, Any]:
    arrays = {name: np.arange(6, dtype=np.float32).reshape(2, 3) for name in ("mm", "relu", "add")}
    sides = []
    for name, by in (("a", 0.0), ("b", seed_of_b)):
        changed = {n: each + by * (n == "relu") for n, each in arrays.items()}
        (folder / f"{name}.json").write_text(build.polygraphy(changed))
        sides.append(str(folder / f"{name}.json"))
    files = [folder / f"x{ending}" for ending in ENDINGS]
    main(["diff", *sides, *(f"--export={file}" for file in files)])
    return {file.name.removeprefix("x"): json.loads(file.read_text()) for file in files}


def test_a_difference_is_in_each_form(tmp_path: Path) -> None:
    found = written(tmp_path, 0.5)
    (run,) = found[".sarif"]["runs"]
    first, *others = run["results"]
    assert found[".sarif"]["version"] == "2.1.0"
    assert (first["ruleId"], first["level"]) == ("first-divergence", "error")
    assert "relu" in first["message"]["text"]
    assert others == []
    assert {result["ruleId"] for result in run["results"]} <= {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    tests = found[".ctrf.json"]["results"]["tests"]
    assert [(t["name"].rpartition(" ")[2], t["status"]) for t in tests] == [
        ("mm", "passed"), ("relu", "failed"), ("add", "passed"),
    ]  # fmt: skip
    slices = [event for event in found[".trace.json"]["traceEvents"] if event["ph"] == "X"]
    assert [(each["name"], each["ts"], each["cname"]) for each in slices] == [
        ("mm", 0, "grey"), ("relu", 1, "terrible"), ("add", 2, "grey"),
    ]  # fmt: skip


def test_equal_runs_have_nothing_to_show(tmp_path: Path) -> None:
    found = written(tmp_path, 0.0)
    assert found[".sarif"]["runs"][0]["results"] == []
    assert found[".ctrf.json"]["results"]["summary"]["passed"] == 3
    assert {each.get("cname", "grey") for each in found[".trace.json"]["traceEvents"]} == {"grey"}


@given(st.lists(STEP, max_size=5), st.sampled_from(ENDINGS))
def test_whatever_the_steps_are_the_text_is_json(steps: list[SpreadRow], ending: str) -> None:
    found = json.loads(exported(f"x{ending}", "a differs from b", None, steps))
    if ending == ".ctrf.json":
        summary = found["results"]["summary"]
        assert summary["tests"] == len(steps) == summary["passed"] + summary["failed"]
    if ending == ".trace.json":
        assert sum(event["ph"] == "X" for event in found["traceEvents"]) == len(steps)
    if ending == ".sarif":
        bad = [s for s in steps if s.role not in (Role.AGREES, Role.CANCELLED)]
        assert len(found["runs"][0]["results"]) == len(bad)
        regions = [
            place["physicalLocation"]["region"]["startLine"]
            for result in found["runs"][0]["results"] for place in result["locations"] if "physicalLocation" in place
        ]  # fmt: skip
        assert all(line >= 1 for line in regions)
    for step in steps:
        assert colour(step) in {"grey", "good", "olive", "bad", "terrible", "yellow"}


def test_another_name_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.json").write_text(build.polygraphy({"a": np.ones(2)}))
    assert main(["diff", str(tmp_path / "a.json"), str(tmp_path / "a.json"), "--export", "x.xml"]) == 2
    assert "its name ends with none of .ctrf.json, .sarif, .trace.json" in capsys.readouterr().err
