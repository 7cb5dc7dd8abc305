"""A test that fails by its own assert still says where it left its golden, and why."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]
OPTIONS = ("-p", "no:cacheprovider")

TESTS = """
    import os
    import numpy as np

    SIDE = int(os.environ["SIDE"])

    def test_own(msdump):
        value = np.arange(1.0, 9.0) * (1 + SIDE % 2)
        msdump.check("v", value)
        assert SIDE == 0, "its own"
        msdump.check("later", 1.0)
"""


@pytest.mark.parametrize(("side", "differs"), [("1", True), ("2", False)])
def test_its_own_assert_and_the_difference(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, side: str, differs: bool
) -> None:
    pytester.makepyfile(test_it=TESTS)
    monkeypatch.setenv("SIDE", "0")
    assert pytester.runpytest_inprocess("--msdump-regen", *OPTIONS).ret == 0
    monkeypatch.setenv("SIDE", side)
    monkeypatch.setenv("COLUMNS", "200")
    result = pytester.runpytest_inprocess("--msdump", *OPTIONS)
    assert result.parseoutcomes() == {"failed": 1}
    text = result.stdout.str()
    assert "AssertionError: its own" in text
    assert ("Cause, proven bit for bit: output.0: found is expected times 2" in text) is differs
    assert ("the test failed by itself" in text) is differs
    assert "check/later" not in text
    last = next(line for line in result.outlines if line.startswith("FAILED "))
    # The last line has the test's own error, then the cause.
    ends = "; output.0: found is expected times 2" if differs else "AssertionError: its own"
    assert "- AssertionError: its own" in last
    assert last.endswith(ends)
    assert not list(pytester.path.glob(".msdump/candidates/*"))


def test_nothing_is_compared_where_there_is_no_golden(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makepyfile(test_it=TESTS)
    monkeypatch.setenv("SIDE", "1")
    result = pytester.runpytest_inprocess("--msdump", *OPTIONS)
    assert result.parseoutcomes() == {"failed": 1}
    assert "could not be compared" not in result.stdout.str()
