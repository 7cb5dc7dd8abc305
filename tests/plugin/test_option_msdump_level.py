"""``--msdump-level`` and ini ``msdump_level``: what a new golden keeps."""

from __future__ import annotations

import pytest

from harness.store import GoldenStore

pytest_plugins = ["pytester"]


def level(gate: pytest.Pytester) -> str:
    """Level of the first test's golden."""
    with GoldenStore.open(gate.path / "golden" / "test_nets" / "test_one.h5") as store:
        return store.run("cpu", "tensor").level


@pytest.mark.sampled(3)
@pytest.mark.parametrize("by", ["flag", "ini", "marker"])
def test_digests_only(nets: pytest.Pytester, by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if by == "ini":
        nets.makeini("[pytest]\nmsdump_level = digest\n")
    elif by == "marker":
        text = (nets.path / "test_nets.py").read_text()
        nets.makepyfile(test_nets=text.replace("mark.msdump\n", 'mark.msdump(level="digest")\n'))
    nets.runpytest("--msdump-regen", *(["--msdump-level=digest"] if by == "flag" else [])).assert_outcomes(passed=4)
    assert level(nets) == "digest"
    nets.runpytest("--msdump").assert_outcomes(passed=4)
    monkeypatch.setenv("ADDED", "1.5")
    result = nets.runpytest("--msdump")
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["*values were not kept*"])


def test_the_default_keeps_tensors(made: pytest.Pytester) -> None:
    assert level(made) == "tensors"


def test_the_command_line_wins_over_the_marker(nets: pytest.Pytester) -> None:
    text = (nets.path / "test_nets.py").read_text()
    nets.makepyfile(test_nets=text.replace("mark.msdump\n", 'mark.msdump(level="digest")\n'))
    nets.runpytest("--msdump-regen", "--msdump-level=tensors").assert_outcomes(passed=4)
    assert level(nets) == "tensors"


def test_other_levels_are_refused(nets: pytest.Pytester) -> None:
    result = nets.runpytest("--msdump", "--msdump-level=half")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*argument --msdump-level: invalid choice: 'half'*"])
    nets.makeini("[pytest]\nmsdump_level = half\n")
    result = nets.runpytest("--msdump")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: ini option msdump_level: *tensors or digest or everything*, got 'half'"])
