"""``--msdump-tolerance`` and ini ``msdump_tolerance``: which tolerance a session judges with."""

from __future__ import annotations

from typing import Any

import pytest

from harness.compare import TOLERANCE_RULES, ToleranceRule

pytest_plugins = ["pytester"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("by", ["flag", "ini"])
@pytest.mark.parametrize(("tolerance", "holds"), [("stored", False), ("exact", False), ("default", True)])
def test_rounding_holds_under_default_alone(
    made: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, by: str, tolerance: str, holds: bool
) -> None:
    monkeypatch.setenv("ADDED", "1.0000001")
    arguments = [f"--msdump-tolerance={tolerance}"] if by == "flag" else []
    if by == "ini":
        made.makeini(f"[pytest]\nmsdump_tolerance = {tolerance}\n")
    result = made.runpytest("--msdump", "-k", "test_one", *arguments)
    result.assert_outcomes(**{"passed" if holds else "failed": 1})


class Npu(ToleranceRule):
    name = "tiny-npu"

    def tolerances(self) -> Any:
        return {"default": "default"}


class Odd(Npu):
    name = "odd"

    def tolerances(self) -> Any:
        raise ValueError("not today")


class Chained(Npu):
    name = "chained"

    def tolerances(self) -> Any:
        return "tiny-npu"


@pytest.fixture
def rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules of another package."""
    for rule in (Npu, Odd, Chained):
        monkeypatch.setitem(TOLERANCE_RULES._things, rule.name, rule())


@pytest.mark.usefixtures("rules")
@pytest.mark.parametrize("by", ["flag", "ini"])
def test_a_rule_of_another_package_is_accepted(made: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, by: str) -> None:
    monkeypatch.setenv("ADDED", "1.0000001")
    if by == "ini":
        made.makeini("[pytest]\nmsdump_tolerance = tiny-npu\n")
    result = made.runpytest("--msdump", "-k", "test_one", *(["--msdump-tolerance=tiny-npu"] if by == "flag" else []))
    result.assert_outcomes(passed=1)


@pytest.mark.usefixtures("rules")
@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("loose", "no tolerance rule is called 'loose'; known are chained, odd, tiny-npu (stored or"),
        ("tiny-npo", "no tolerance rule is called 'tiny-npo'; did you mean tiny-npu? (stored or"),
        ("odd", "rule 'odd' fails: ValueError: not today"),
        ("chained", "tolerance rule 'chained' gives the name of another rule, 'tiny-npu'"),
        ("", "no tolerance rule is called ''"),
    ],
)
def test_another_word_is_a_usage_error(made: pytest.Pytester, word: str, told: str) -> None:
    result = made.runpytest("--msdump", f"--msdump-tolerance={word}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = [line for line in result.errlines if line]
    assert line.startswith(f"ERROR: --msdump-tolerance: {told}")
