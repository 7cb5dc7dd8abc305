"""``--msdump-tolerance`` and ini ``msdump_tolerance``: which tolerance a session judges with."""

from __future__ import annotations

import pytest

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


def test_another_word_is_a_usage_error(made: pytest.Pytester) -> None:
    result = made.runpytest("--msdump", "--msdump-tolerance=loose")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
