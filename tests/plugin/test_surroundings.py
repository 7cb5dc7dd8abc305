"""The gate beside other settings and plugins of pytest."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_msdump.options import OPTIONS

pytest_plugins = ["pytester"]
HERE = Path(__file__).parent


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "arguments",
    [
        ("-p", "no:cacheprovider"),
        ("-p", "no:assertion"),
        ("-p", "no:skipping"),
        ("-p", "no:junitxml"),
        ("--strict-markers",),
        ("--strict-config",),
        ("--import-mode=importlib",),
        ("--import-mode=append",),
        ("-s",),
        ("--color=yes",),
        ("--tb=native",),
        ("-o", "strict=true"),
    ],
    ids=" ".join,
)
def test_the_gate_lives_with(made: pytest.Pytester, arguments: tuple[str, ...]) -> None:
    result = made.runpytest("--msdump", *arguments)
    result.assert_outcomes(passed=4)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*compared 48 slots in 4 runs; *"])


@pytest.mark.long
def test_warnings_as_errors(made: pytest.Pytester) -> None:
    result = made.runpytest_subprocess("--msdump", "-W", "error")
    result.assert_outcomes(passed=4)
    assert result.ret == 0


def test_without_a_terminal(made: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    assert made.inline_run("--msdump", "-p", "no:terminal").ret == 0
    monkeypatch.setenv("ADDED", "1.5")
    done = made.inline_run("--msdump", "-p", "no:terminal")
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    passed, skipped, failed = done.listoutcomes()
    assert (len(passed), len(skipped), len(failed)) == (3, 0, 1)


@pytest.mark.long
def test_without_autoload(made: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, plugin_name: str) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("PYTEST_PLUGINS")
    made.runpytest_subprocess("-p", plugin_name, "--msdump").assert_outcomes(passed=4)
    assert made.runpytest_subprocess("--msdump").ret == pytest.ExitCode.USAGE_ERROR


def test_the_gate_changes_nothing_for_other_tests(gate: pytest.Pytester) -> None:
    gate.makepyfile(
        """
        import pytest
        def test_passes(): pass
        def test_fails(): assert 0
        @pytest.mark.skip
        def test_skipped(): pass
        @pytest.mark.xfail
        def test_xfails(): assert 0
        """
    )
    outcomes = {"passed": 1, "failed": 1, "skipped": 1, "xfailed": 1}
    gate.runpytest("--msdump").assert_outcomes(**outcomes)
    gate.runpytest().assert_outcomes(**outcomes)


def test_collect_only_touches_nothing(nets: pytest.Pytester) -> None:
    for act in ("--msdump", "--msdump-regen"):
        result = nets.runpytest("--collect-only", act)
        assert result.ret == 0
        result.stdout.fnmatch_lines(["*4 tests collected*"])
        result.stdout.no_fnmatch_line("*= msdump =*")
    assert not (nets.path / "golden").exists()


def test_stepwise_and_exitfirst(made: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADDED", "1.5")
    result = made.runpytest("--msdump", "-x")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["compared 8 slots in 1 run; *; unused goldens 0"])
    made.runpytest("--msdump", "--sw").assert_outcomes(failed=1)
    monkeypatch.delenv("ADDED")
    made.runpytest("--msdump", "--sw").assert_outcomes(passed=4)


def test_help_lists_every_flag_and_every_ini_key(gate: pytest.Pytester) -> None:
    text = gate.runpytest("--help").stdout.str()
    group = re.search(r"^golden networks \(pytest-msdump\):$(.*?)^\S", text, re.MULTILINE | re.DOTALL)
    assert group is not None
    for option in OPTIONS:
        assert re.search(rf"^\s+{option.flag}\b", group[1], re.MULTILINE), option.flag
        assert re.search(rf"^\s+{option.name} \(", text, re.MULTILINE), option.name


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_every_option_has_its_test_file(option: object) -> None:
    assert (HERE / f"test_option_{option.name}.py").exists()  # type: ignore[attr-defined]
