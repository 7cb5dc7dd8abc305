"""``--msdump-keep`` and ini ``msdump_keep``: dump trees of failing tests stay."""

from __future__ import annotations

import pytest

from harness.capture import read_tree
from harness.cli import main

pytest_plugins = ["pytester"]
TREE = ".msdump/trees/test_nets/test_one/cpu-tensor"


@pytest.mark.parametrize("by", ["flag", "ini"])
def test_the_tree_of_a_failing_test_stays(made: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, by: str) -> None:
    monkeypatch.setenv("ADDED", "1.5")
    if by == "ini":
        made.makeini("[pytest]\nmsdump_keep = true\n")
    result = made.runpytest("--msdump", *(["--msdump-keep"] if by == "flag" else []))
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines([f"dump tree kept: {TREE}"])
    assert sum(1 for _ in read_tree(made.path / TREE).records()) == 8
    assert [path.name for path in (made.path / ".msdump" / "trees" / "test_nets").iterdir()] == ["test_one"]
    assert main(["check", str(made.path / TREE), str(made.path / "golden/test_nets/test_one.h5")]) == 1


def test_without_it_none_is_written(made: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADDED", "1.5")
    made.runpytest("--msdump").assert_outcomes(passed=3, failed=1)
    assert not (made.path / ".msdump" / "trees").exists()


def test_the_tree_of_a_passing_test_goes(made: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADDED", "1.5")
    made.runpytest("--msdump", "--msdump-keep").assert_outcomes(passed=3, failed=1)
    monkeypatch.delenv("ADDED")
    made.runpytest("--msdump", "--msdump-keep").assert_outcomes(passed=4)
    assert {path.name for path in (made.path / ".msdump").iterdir()} <= {".gitignore", "candidates"}


def test_the_tree_of_a_test_that_fails_itself_stays(made: pytest.Pytester) -> None:
    made.makepyfile(
        test_nets=(made.path / "test_nets.py").read_text()
        + "\ndef test_bad(msdump):\n    msdump.run(Net(), X)\n    assert False\n"
    )
    made.runpytest("--msdump", "--msdump-keep").assert_outcomes(passed=4, failed=1)
    assert sum(1 for _ in read_tree(made.path / ".msdump/trees/test_nets/test_bad/cpu-tensor").records()) == 8


def test_the_golden_agrees_with_the_kept_tree(made: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADDED", "1.5")
    made.runpytest("--msdump", "--msdump-keep").assert_outcomes(passed=3, failed=1)
    made.runpytest("--msdump-regen").assert_outcomes(passed=4)
    assert main(["check", str(made.path / TREE), str(made.path / "golden/test_nets/test_one.h5")]) == 0


@pytest.mark.parametrize("variant", ["gpu-statistic", "ascend-o0-tensor", "ascend-o1-full", "ascend-o2-tensor"])
def test_a_tree_is_in_its_backend_s_own_form(made: pytest.Pytester, variant: str) -> None:
    backend, _, mode = variant.rpartition("-")
    text = (
        made.path / "test_nets.py"
    ).read_text() + "\ndef test_bad(msdump):\n    msdump.run(Net(), X)\n    assert False\n"
    made.makepyfile(test_nets=text)
    made.runpytest(
        "--msdump", "--msdump-keep", f"--msdump-backend={backend}", f"--msdump-mode={mode}", "-k", "test_bad"
    )
    tree = made.path / ".msdump/trees/test_nets/test_bad" / variant
    suffixes = {path.suffix for path in tree.rglob("*") if path.is_file()}
    assert (".csv" in suffixes) == (mode != "tensor" or backend != "ascend-o2")
    assert (".npy" in suffixes) == (mode != "statistic" and backend != "ascend-o2")
    records = list(read_tree(tree).records())
    assert all((record.load() is None) == (mode == "statistic") for record in records)
    assert records
