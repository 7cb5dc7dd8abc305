"""``--msdump-force`` and ini ``msdump_force``: what ``--msdump-learn`` refuses is learned all the same."""

from __future__ import annotations

import pytest

from harness.store import GoldenStore
from tests.plugin.test_option_msdump_learn import NOISY, Files

pytest_plugins = ["pytester"]


@pytest.fixture
def noisy(gate: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A test with a golden that no rounding explains."""
    gate.makepyfile(test_noisy=NOISY)
    gate.runpytest("--msdump-regen").assert_outcomes(passed=2)
    monkeypatch.setenv("NOISE", "1e-3")
    return gate


@pytest.mark.parametrize(("runs", "why"), [("1", "one run shows no scatter"), ("3", "what rounding explains")])
def test_a_change_is_refused_and_audited(noisy: pytest.Pytester, files: Files, runs: str, why: str) -> None:
    before = files(noisy)
    result = noisy.runpytest("--msdump-learn", runs)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            f"*run cpu/tensor: *{why}*(--msdump-force learns from it)",
            "what its tolerances would let through:",
            "  audit: a change passes in * slots, the largest *",
            "nothing was kept",
        ]
    )
    assert files(noisy) == before


@pytest.mark.parametrize("by", ["flag", "ini"])
def test_force_learns_it(noisy: pytest.Pytester, by: str) -> None:
    if by == "ini":
        noisy.makeini("[pytest]\nmsdump_force = true\n")
    result = noisy.runpytest("--msdump-learn", "3", *(["--msdump-force"] if by == "flag" else []))
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*learned: test_noisy.py::test_noisy*scatter in 3 runs*audit: *"])
    with GoldenStore.open(noisy.path / "golden" / "test_noisy" / "test_noisy.h5") as store:
        assert store.run("cpu", "tensor").attrs["learned"]["runs"] == 3
