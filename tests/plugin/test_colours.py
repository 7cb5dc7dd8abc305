"""What fails stands out on a terminal, and only there."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_msdump.closing import closing
from pytest_msdump.colours import painted
from pytest_msdump.options import Settings
from pytest_msdump.report import Summary, empty_result

pytest_plugins = ["pytester"]


def told(tmp_path: Path, *verdicts: str, problems: tuple[str, ...] = (), stale: tuple[str, ...] = ()) -> dict[str, str]:
    summary = Summary()
    for at, verdict in enumerate(verdicts):
        name = f"test_a.py::test_{at}"
        summary.results[name] = [empty_result(name, f"a{at}.h5", "cpu", "tensor", verdict)]
    summary.problems, summary.unused = list(problems), list(stale)
    settings = Settings(True, False, False, tmp_path / "golden", tmp_path, False)
    lines = closing(summary, settings, tmp_path, 0)
    return {line: "+".join(markup) for line, markup in painted(lines, summary)}


def test_a_failing_row_and_the_sum_are_red(tmp_path: Path) -> None:
    found = list(told(tmp_path, "identical", "differs", "cannot tell").values())
    assert found == ["", "", "red", "red", "red+bold"]


def test_the_sum_is_green_where_all_holds(tmp_path: Path) -> None:
    assert list(told(tmp_path, "identical", "within tolerance").values()) == ["", "", "", "green"]


def test_what_else_fails_is_red(tmp_path: Path) -> None:
    found = told(tmp_path, "identical", problems=("a report was not written",), stale=("old.h5",))
    assert found["a report was not written"] == "red+bold"
    assert found["  old.h5"] == "red"
    assert "green" not in found.values()


def test_colours_are_asked_for_and_refused(nets: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    for arguments, coloured in ((["--color=yes"], True), ([], False)):
        result = nets.runpytest("--msdump", "-k", "class", *arguments)
        (line,) = [line for line in result.outlines if "missing goldens 1" in line]
        assert line.startswith("\x1b[31m") is coloured
        assert ("\x1b[" in result.stdout.str()) is coloured
