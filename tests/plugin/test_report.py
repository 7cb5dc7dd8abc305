"""Header, table, bounded text, JUnit properties."""

from __future__ import annotations

import re
import xml.etree.ElementTree
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.gate.bounded import MAX_BYTES, MAX_LINES, bounded, failure
from pytest_msdump.closing import closing
from pytest_msdump.junit import properties
from pytest_msdump.options import Settings
from pytest_msdump.report import (
    COUNTS,
    HEADINGS,
    MAX_ROWS,
    Row,
    Summary,
    empty_result,
    header,
    table,
)

pytest_plugins = ["pytester"]


@given(st.text(max_size=9000), st.integers(2, 60), st.integers(200, 5000))
def test_bounded_keeps_its_bounds_and_its_beginning(text: str, lines: int, size: int) -> None:
    cut = bounded(text, lines, size)
    assert cut.count("\n") + 1 <= lines
    assert len(cut.encode(errors="replace")) <= size
    if len(text.encode(errors="replace")) <= size and text.rstrip("\n").count("\n") < lines:
        assert cut == text.rstrip("\n")
    else:
        assert "shown)" in cut.splitlines()[-1]


@given(st.lists(st.text(max_size=3000), min_size=1, max_size=4), st.lists(st.text("ab ", max_size=80), max_size=3))
def test_a_failure_keeps_its_closing_lines_and_all_its_parts(texts: list[str], end: list[str]) -> None:
    text = failure([f"part {number}\n{each}" for number, each in enumerate(texts)], end)
    assert text.count("\n") + 1 <= MAX_LINES
    assert len(text.encode(errors="replace")) <= MAX_BYTES
    assert text.endswith("\n".join(end))
    assert [f"part {number}" in text for number in range(len(texts))] == [True] * len(texts)


def rows(count: int, different: int) -> list[Row]:
    """Rows of which the last few have something other than identical slots."""
    names = [(f"net{at:04}", "cpu", "tensor") for at in range(count)]
    good, bad = Row([5, 5, *[0] * 6], ["identical"]), Row([5, 4, 0, 1, *[0] * 4], ["identical", "differs"])
    return [(bad if at >= count - different else good)._replace(names=names[at]) for at in range(count)]


def test_a_long_table_leaves_out_what_is_identical() -> None:
    lines = list(table(rows(500, 120), verbose=False))
    assert sum("net" in line for line in lines[1:]) == 120
    assert lines[-1] == "... and 380 more where all is identical (-v lists them)"
    assert len(list(table(rows(500, 120), verbose=True))) == 501
    assert len(list(table(rows(MAX_ROWS, 0), verbose=False))) == MAX_ROWS + 1
    lines = list(table(rows(MAX_ROWS + 10, 1), verbose=False))
    assert len(lines) == MAX_ROWS + 2
    assert lines[-2].startswith(f"net{MAX_ROWS + 9:04}")


def test_columns_are_aligned() -> None:
    lines = list(table(rows(3, 1), verbose=False))
    assert [line.split() for line in lines] == [
        list(HEADINGS[:-1]),
        *([*row.names, *map(str, row.counts[:-1])] for row in rows(3, 1)),
    ]
    assert len({len(line) for line in lines}) == 1


def test_what_nobody_can_tell_has_a_column_of_its_own() -> None:
    one, other = rows(2, 0)
    lines = list(table([one, other._replace(counts=[5, 2, *[0] * 5, 3])], verbose=False))
    assert lines[0].endswith("cannot tell")
    assert [line.split()[-1] for line in lines[1:]] == ["0", "3"]


def test_rows_are_in_natural_order() -> None:
    summary = Summary()
    for name in ("a.py::t[10]", "a.py::t[9]", "a.py::s", "a.py::t"):
        result = empty_result(name, "a/t.h5", "cpu", "tensor", "identical")
        summary.add(pytest.TestReport(name, ("a.py", 1, "t"), {}, "passed", None, "call", msdump=[result]))
    assert [row.names[0] for row in summary.rows()] == ["a.py::s", "a.py::t", "a.py::t[9]", "a.py::t[10]"]


def test_header_counts_stores() -> None:
    assert header("check", ["cpu"], ["tensor"], "golden", 1).endswith("goldens in golden (1 store)")
    assert header("regenerate", ["cpu", "gpu"], ["tensor"], "g", 0) == (
        "msdump: regenerate, backends cpu, gpu, modes tensor, goldens in g (0 stores)"
    )


def test_nothing_to_say(tmp_path: Path) -> None:
    asked = Settings(active=True, regen=False, keep=False, golden=tmp_path / "golden", root=tmp_path, in_ci=False)
    assert list(closing(Summary(), asked, tmp_path, 0)) == []


def test_a_rerun_replaces_what_the_test_said_before() -> None:
    summary = Summary()
    for verdict, differing in (("differs", 3), ("identical", 0)):
        result = empty_result("a.py::t", "a/t.h5", "cpu", "tensor", verdict)
        result["slots"], result["differing"] = 5, differing
        report = pytest.TestReport("a.py::t", ("a.py", 1, "t"), {}, "passed", None, "call", msdump=[result])
        summary.add(report)
    assert summary.total("differing") == 0
    assert summary.total("slots") == 5


def test_properties_of_a_comparison_with_another_backend_carry_its_name() -> None:
    own = empty_result("a.py::t", "a/t.h5", "cpu", "tensor", "identical")
    other = {**own, "against": "mindspore", "max_abs": 0.5}
    found = dict(properties([own, other]))  # type: ignore[list-item]
    assert found["msdump_verdict"] == found["msdump_mindspore_verdict"] == "identical"
    assert found["msdump_mindspore_max_abs_error"] == 0.5
    assert "msdump_max_abs_error" not in found


@pytest.mark.parametrize("xdist", [False, pytest.param(True, marks=pytest.mark.long)], ids=["serial", "xdist"])
def test_junit_properties(made: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, xdist: bool) -> None:
    monkeypatch.setenv("ADDED", "1.5")
    run = made.runpytest_subprocess if xdist else made.runpytest
    run("--msdump", "--junitxml=out.xml", *(("-n", "1") if xdist else ())).assert_outcomes(passed=3, failed=1)
    cases = xml.etree.ElementTree.parse(made.path / "out.xml").iterfind(".//testcase")
    found = {
        case.get("name"): {each.get("name"): each.get("value") for each in case.iterfind(".//property")}
        for case in cases
    }
    one = found["test_one[cpu-tensor]"]
    assert one["msdump_golden"] == "test_nets/test_one.h5"
    assert (one["msdump_backend"], one["msdump_mode"], one["msdump_verdict"]) == ("cpu", "tensor", "differs")
    assert [one[f"msdump_{name}"] for name in COUNTS[:-1]] == ["8", "6", "0", "2", "0", "0", "0"]
    assert one["msdump_max_abs_error"] == "0.5"
    assert one["msdump_first_divergence"].startswith("iteration 0, Default/Add-op0 output.0: ")
    assert one["msdump_cause"]
    assert re.fullmatch(r"test_nets\.py:\d+", one["msdump_source"])
    assert "msdump_passes_with" not in one  # equal bits are asked for
    assert found["test_two[cpu-tensor-3]"]["msdump_verdict"] == "identical"
