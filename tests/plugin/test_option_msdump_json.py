"""``--msdump-json`` and ini ``msdump_json``: the session's results for programs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.test_json import undocumented

pytest_plugins = ["pytester"]


def written(gate: pytest.Pytester, name: str = "r.json") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((gate.path / name).read_bytes())
    assert not undocumented(found)
    return found


@pytest.mark.parametrize("by", ["flag", "ini"])
def test_results_are_written(made: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, by: str) -> None:
    monkeypatch.setenv("ADDED", "1.5")
    if by == "ini":
        made.makeini("[pytest]\nmsdump_json = out/r.json\n")
    ended = made.runpytest("--msdump", *(["--msdump-json=out/r.json"] if by == "flag" else []))
    ended.assert_outcomes(passed=3, failed=1)
    ended.stdout.fnmatch_lines([f"results: {made.path / 'out' / 'r.json'}"])
    found = written(made, "out/r.json")
    assert (found["command"], found["exit_code"], found["verdict"]) == ("pytest", 1, "differs")
    assert {each["test"].partition("[")[0]: each["holds"] for each in found["comparisons"]} == {
        "test_nets.py::test_one": False, "test_nets.py::test_two": True, "test_nets.py::TestIn::test_class": True,
    }  # fmt: skip
    (failed,) = [each for each in found["comparisons"] if not each["holds"]]
    assert failed["cause"]["text"] == "y 1 -> 1.5"
    assert failed["cause"]["proven"]
    assert failed["first_divergence"]["slot"] == "output.0"
    assert failed["counts"]["identical"] + failed["counts"]["differs"] == failed["slots"]
    assert [each["for"] for each in failed["suggestions"]] == ["see", "picture", "accept"]
    (group,) = found["groups"]
    assert (group["filed"], group["tests"]) == ("fault", [failed["test"]])


def test_all_holds_and_is_skipped(made: pytest.Pytester) -> None:
    assert made.runpytest("--msdump", "--msdump-json=r.json").ret == 0
    found = written(made)
    assert (found["verdict"], found["groups"], found["unused"]) == ("holds", [], [])
    assert {each["verdict"] for each in found["comparisons"]} == {"identical"}


def test_a_directory_is_refused_and_a_place_without_rights_told(made: pytest.Pytester) -> None:
    made.mkdir("folder")
    refused = made.runpytest("--msdump", "--msdump-json=folder")
    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    refused.stderr.fnmatch_lines(["*--msdump-json: folder is a directory; the name of a JSON file is accepted"])
    made.path.joinpath("file").write_text("")
    ended = made.runpytest("--msdump", "--msdump-json=file/r.json")
    assert ended.ret == pytest.ExitCode.TESTS_FAILED
    ended.stdout.fnmatch_lines(["msdump: the results were not written: *"])
