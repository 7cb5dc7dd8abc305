"""``--msdump`` and ini ``msdump``."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]


def test_the_flag_checks(made: pytest.Pytester) -> None:
    result = made.runpytest("--msdump")
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(
        [
            "msdump: check, backends cpu (emulated), modes tensor, goldens in golden (4 stores)",
            "*= msdump =*",
            "network * backend * mode * slots * identical * within * differing * missing * unexpected * new",
            "test_nets.py::TestIn::test_class * cpu * tensor * 8 * 8 * 0 * 0 * 0 * 0 * 0",
            "test_nets.py::test_one * cpu * tensor * 8 * 8 * 0 * 0 * 0 * 0 * 0",
            "test_nets.py::test_two[[]0.5[]] * cpu * tensor * 16 * 16 * 0 * 0 * 0 * 0 * 0",
            "test_nets.py::test_two[[]3[]] * cpu * tensor * 16 * 16 * 0 * 0 * 0 * 0 * 0",
            "compared 48 slots in 4 runs; new 0; missing goldens 0; not compared 0; skipped 0; unused goldens 0",
        ]
    )


@pytest.mark.parametrize("value", ["true", "on", "1"])
def test_the_ini_twin_checks(made: pytest.Pytester, value: str) -> None:
    made.makeini(f"[pytest]\nmsdump = {value}\n")
    made.runpytest().assert_outcomes(passed=4)


def test_the_ini_twin_in_pyproject(made: pytest.Pytester) -> None:
    made.makepyprojecttoml("[tool.pytest.ini_options]\nmsdump = true\n")
    made.runpytest().assert_outcomes(passed=4)


def test_an_ini_that_says_no_is_overruled_by_the_flag(made: pytest.Pytester) -> None:
    made.makeini("[pytest]\nmsdump = false\n")
    made.runpytest().assert_outcomes(skipped=4)
    made.runpytest("--msdump").assert_outcomes(passed=4)


def test_without_it_nothing_passes(made: pytest.Pytester) -> None:
    made.runpytest().assert_outcomes(skipped=4)


def test_a_difference_fails_in_the_call_phase(made: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADDED", "1.5")
    result = made.runpytest("--msdump")
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(
        [
            "test_nets.py::test_one [[]cpu-tensor[]] differs from golden*test_one.h5",
            "First divergence: iteration 0, Default/Add-op0, *",
            "*expected 1.0, found 1.5*",
            "*msdump regen 'test_nets.py::test_one[[]cpu-tensor[]]'",
            "test_nets.py::test_one * cpu * tensor * 8 * 6 * 0 * 2 * 0 * 0 * 0",
        ]
    )


def test_a_missing_golden_fails_with_the_command_that_makes_it(nets: pytest.Pytester) -> None:
    result = nets.runpytest("--msdump", "-k", "test_one")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "msdump: no golden for run cpu/tensor of test_nets.py::test_one",
            "*golden/test_nets/test_one.h5 (the store does not exist)",
            "*make it: msdump regen 'test_nets.py::test_one[[]cpu-tensor[]]'",
            "compared 0 slots in 0 runs; new 8; missing goldens 1; *",
        ]
    )
    assert not (nets.path / "golden").exists()


@pytest.mark.parametrize("xdist", [False, pytest.param(True, marks=pytest.mark.long)], ids=["serial", "xdist"])
def test_verbose_says_what_differed_first_and_what_would_pass(
    made: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, xdist: bool
) -> None:
    monkeypatch.setenv("ADDED", "1.5")
    run = made.runpytest_subprocess if xdist else made.runpytest
    result = run("--msdump", "-v", *(("-n", "1") if xdist else ()))
    result.stdout.fnmatch_lines(
        [
            "network * new  verdict * max abs  first divergence * would pass with",
            "test_nets.py::test_one * differs * 0.5 *iteration 0, Default/Add-op0 output.0: * (test_nets.py:*) *-",
            "test_nets.py::test_two[[]0.5[]] * identical * -",
        ]
    )
    result.stdout.fnmatch_lines(["FAILED test_nets.py::test_one[[]cpu-tensor[]] - y 1 -> 1.5 (test_nets.py:17)"])


def test_a_failure_says_its_cause_and_what_to_run_next(made: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADDED", "1.5")
    made.runpytest("--msdump").stdout.fnmatch_lines(
        [
            "Cause, proven by replay: y 1 -> 1.5 (test_nets.py:*)",
            "First divergence: iteration 0, Default/Add-op0, output.0 *",
            "  *expected *, found *; * elements differ; *input.1 (y) differs",
            "Then nothing else; 6 of 8 slots are identical",
            "See: msdump show golden/*   Picture: --msdump-report=report.html   Meant: msdump regen *",
        ]
    )


def test_the_next_session_runs_what_failed(made: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADDED", "1.5")
    assert made.runpytest("--msdump").ret == pytest.ExitCode.TESTS_FAILED
    result = made.runpytest("--msdump", "--lf")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["compared 8 slots in 1 run; *"])
    monkeypatch.delenv("ADDED")
    assert made.runpytest("--msdump", "--lf").ret == pytest.ExitCode.OK


def test_quiet_says_only_what_matters(made: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    made.runpytest("--msdump", "-q").stdout.no_fnmatch_line("network *")
    monkeypatch.setenv("ADDED", "1.5")
    result = made.runpytest("--msdump", "-q")
    result.stdout.fnmatch_lines(["network *", "test_nets.py::test_one *"])
    result.stdout.no_fnmatch_line("test_nets.py::TestIn::test_class *")


def test_it_is_said_that_there_is_no_gate_test(gate: pytest.Pytester) -> None:
    gate.makepyfile("def test_plain(): pass")
    result = gate.runpytest("--msdump")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*= msdump =*", "nothing was compared: no gate test in *"])
