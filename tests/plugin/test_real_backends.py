"""Backends that compute elsewhere: another backend's golden may stand for their own, and tolerances are by dtype."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]

CONFTEST = """
    from harness.backends import BACKENDS
    from harness.backends.cpu import Cpu
    from harness.backends.emulated import EmulatedProcess

    class Process(EmulatedProcess):
        emulated = False

    class Real(Cpu):
        name = "real"
        emulated = False

        def process(self, *given):
            return Process(self.name, self.device, *given)

    BACKENDS.get("cpu")
    BACKENDS._things["real"] = Real()
"""


@pytest.fixture
def real(made: pytest.Pytester) -> pytest.Pytester:
    """``made`` with a second backend whose captures say that nothing is emulated."""
    made.makeconftest(CONFTEST)
    return made


def against(real: pytest.Pytester, stated: str) -> None:
    text = (real.path / "test_nets.py").read_text()
    real.makepyfile(test_nets=text.replace("mark.msdump\n", f"mark.msdump(against={stated})\n"))


@pytest.mark.long
def test_without_a_golden_of_its_own_it_is_held_against_the_other_alone(
    real: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    against(real, "{'real~cpu': 'default'}")
    result = real.runpytest("--msdump", "--msdump-backend=real")
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["compared * in 4 runs; new 0; missing goldens 0*"])
    monkeypatch.setenv("ADDED", "1.5")
    real.runpytest("--msdump", "--msdump-backend=real").assert_outcomes(passed=3, failed=1)


@pytest.mark.long
def test_with_one_it_is_held_against_both(real: pytest.Pytester) -> None:
    against(real, "{'real~cpu': 'default'}")
    real.runpytest("--msdump-regen", "--msdump-backend=real").assert_outcomes(passed=4)
    result = real.runpytest("--msdump", "--msdump-backend=real")
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["compared * in 8 runs; new 0; missing goldens 0*"])


def test_with_nothing_to_be_held_against_its_golden_is_missing(real: pytest.Pytester) -> None:
    result = real.runpytest("--msdump", "--msdump-backend=real")
    result.assert_outcomes(failed=4)
    result.stdout.fnmatch_lines(["msdump: no golden for run real/tensor of *"])


@pytest.mark.long
def test_an_emulated_golden_beside_a_real_run_is_said(real: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    real.makeconftest(CONFTEST.replace("emulated = False", "emulated = True"))
    real.runpytest("--msdump-regen", "--msdump-backend=real").assert_outcomes(passed=4)
    real.makeconftest(CONFTEST)
    real.runpytest("--msdump", "--msdump-backend=real").assert_outcomes(passed=4)
    monkeypatch.setenv("ADDED", "1.5")
    result = real.runpytest("--msdump", "--msdump-backend=real")
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["msdump: the golden is emulated, this run of backend real is real"])


@pytest.mark.parametrize(("backend", "variable"), [("gpu", "MSDUMP_GPU"), ("torch", "MSDUMP_TORCH_DEVICE")])
def test_a_setting_that_cannot_be_read_ends_the_session(
    made: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, backend: str, variable: str
) -> None:
    monkeypatch.setenv(variable, "abacus")
    result = made.runpytest("--msdump", f"--msdump-backend={backend}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: msdump: {variable}: *accepted, got 'abacus'"])
