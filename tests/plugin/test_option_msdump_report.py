"""``--msdump-report`` and ini ``msdump_report``: a page about the session; annotations in CI services."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from pytest_msdump import annotations
from pytest_msdump.report import empty_result

pytest_plugins = ["pytester"]


def runs(page: Path) -> list[dict[str, Any]]:
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text(), re.DOTALL)
    assert match is not None
    found: list[dict[str, Any]] = json.loads(match[1])["runs"]
    return found


@pytest.mark.parametrize("by", ["flag", "ini"])
def test_a_page_is_written(made: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, by: str) -> None:
    monkeypatch.setenv("ADDED", "1.5")
    if by == "ini":
        made.makeini("[pytest]\nmsdump_report = out/page.html\n")
    result = made.runpytest("--msdump", *(["--msdump-report=out/page.html"] if by == "flag" else []))
    result.assert_outcomes(passed=3, failed=1)
    page = made.path / "out" / "page.html"
    result.stdout.fnmatch_lines([f"report: {page}"])
    found = runs(page)
    assert [(run["name"], run["holds"]) for run in found] == [
        ("test_nets.py::test_one [cpu-tensor]", False), ("test_nets.py::TestIn::test_class [cpu-tensor]", True),
        ("test_nets.py::test_two[0.5] [cpu-tensor]", True), ("test_nets.py::test_two[3] [cpu-tensor]", True),
    ]  # fmt: skip
    assert found[0]["first"] is not None
    assert found[0]["explanation"]["cause"]["text"] == "y 1 -> 1.5"
    assert found[0]["found"] == "cpu/tensor (emulated)"
    assert found[1]["slots"] == []
    assert not list((made.path / ".msdump" / "reports").iterdir())


@pytest.mark.long
def test_workers_leave_the_same_page(made: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("xdist")
    monkeypatch.setenv("ADDED", "1.5")
    pages = []
    for name, more in (("one.html", []), ("two.html", ["-n", "2"])):
        made.runpytest_subprocess("--msdump", f"--msdump-report={name}", *more).assert_outcomes(passed=3, failed=1)
        pages.append((made.path / name).read_bytes())
    assert pages[0] == pages[1]


def test_every_failing_test_and_what_the_recorder_wrote(made: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    made.runpytest("--msdump-regen", "--msdump-rdr")
    text = (made.path / "test_nets.py").read_text()
    made.makepyfile(test_nets=text.replace("self.added = added", "self.added = added + (added > 1.2) / 4"))
    monkeypatch.setenv("ADDED", "1.5")
    result = made.runpytest("--msdump", "--msdump-rdr", "--msdump-report=page.html")
    failed = result.parseoutcomes()["failed"]
    assert failed > 1
    found = runs(made.path / "page.html")
    assert [run["holds"] for run in found] == [False] * failed + [True] * (4 - failed)
    assert len({run["name"] for run in found}) == 4
    for run in found:
        recorded = [each for each in run["artefacts"] if each["recorder"]]
        assert len(recorded) == 28
        if not run["holds"]:
            changed = next(each for each in recorded if each["state"] == "differs")
            assert changed["hunks"]
            assert run["first"] is not None
            assert run["slots"]


@pytest.mark.parametrize("xdist", [False, pytest.param(True, marks=pytest.mark.long)], ids=["serial", "xdist"])
def test_what_was_compared_with_nothing_is_listed(nets: pytest.Pytester, xdist: bool) -> None:
    nets.makepyfile(
        test_others="""
        import pytest
        @pytest.mark.msdump
        def test_ends(msdump):
            raise ValueError("before")
        @pytest.mark.msdump
        def test_runs_nothing(msdump):
            pass
        """
    )
    run = nets.runpytest_subprocess if xdist else nets.runpytest
    run("--msdump", "--msdump-report=page.html", *(("-n", "1") if xdist else ())).assert_outcomes(failed=6)
    found = {run["name"]: run for run in runs(nets.path / "page.html")}
    assert len(found) == 6
    assert not any(run["holds"] for run in found.values())
    assert "no golden for run cpu/tensor" in found["test_nets.py::test_one [cpu-tensor]"]["text"]
    assert "ended before" in found["test_others.py::test_ends [cpu-tensor]"]["text"]
    assert "called none of" in found["test_others.py::test_runs_nothing [cpu-tensor]"]["text"]


def test_without_it_nothing_is_written(made: pytest.Pytester) -> None:
    made.runpytest("--msdump").assert_outcomes(passed=4)
    assert not (made.path / ".msdump").exists()


def test_a_directory_is_refused(made: pytest.Pytester) -> None:
    result = made.runpytest("--msdump", "--msdump-report=.")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--msdump-report: . is a directory*"])


def test_a_page_that_cannot_be_written_fails_the_session(made: pytest.Pytester) -> None:
    (made.path / "file").write_text("")
    result = made.runpytest("--msdump", "--msdump-report=file/page.html")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["msdump: a report was not written: *"])


def test_github_gets_annotations(made: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADDED", "1.5")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    result = made.runpytest("--msdump")
    result.stdout.fnmatch_lines(
        ["::error file=test_nets.py,line=*,title=msdump%3A test_nets.py%3A%3Atest_one*::*Add-op0*"]
    )
    line = next(line for line in result.outlines if line.startswith("::error"))
    shown = int(re.search(r"line=(\d+)", line)[1])  # type: ignore[index]
    assert "x * self.w + self.added" in (made.path / "test_nets.py").read_text().splitlines()[shown - 1]


def test_gitlab_gets_a_report(made: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADDED", "1.5")
    monkeypatch.setenv("GITLAB_CI", "true")
    made.runpytest("--msdump")
    issues = json.loads((made.path / ".msdump" / annotations.GITLAB_REPORT).read_text())
    assert [issue["location"]["path"] for issue in issues] == ["test_nets.py"]
    assert len(issues[0]["fingerprint"]) == 64


def test_a_line_of_a_library_is_not_annotated(gate: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    gate.makepyfile(
        test_layer="""
        import os
        import numpy as np
        from harness import Tensor, nn

        def test_layer(msdump):
            size = float(os.environ.get("SIZE", 1))
            msdump.run(nn.ReLU(), Tensor(np.full(3, size, np.float32)))
        """
    )
    gate.runpytest("--msdump-regen").assert_outcomes(passed=1)
    monkeypatch.setenv("SIZE", "1.5")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITLAB_CI", "true")
    result = gate.runpytest("--msdump")
    result.stdout.fnmatch_lines(["::error file=test_layer.py,line=5,*ReLU-op*"])
    issues = json.loads((gate.path / ".msdump" / annotations.GITLAB_REPORT).read_text())
    assert [issue["location"] for issue in issues] == [{"path": "test_layer.py", "lines": {"begin": 5}}]


def test_annotations_are_escaped_and_few(tmp_path: Path) -> None:
    result = empty_result("a,b:c\nd", "x.h5", "cpu", "tensor", "differs")
    result["where"], result["source"] = "100% wrong\nreally", "/abs/x.py:3"
    found = list(annotations.collect({"tests/t.py::x": [result] * 12}, tmp_path))
    assert found[0][:2] == ("tests/t.py", 1)
    lines = list(annotations.github(found))
    assert (
        lines[0] == "::error file=tests/t.py,line=1,title=msdump%3A a%2Cb%3Ac\\nd [cpu-tensor]::100%25 wrong\\nreally"
    )
    assert len(lines) == annotations.MAX + 1
    assert "2 more" in lines[-1]
