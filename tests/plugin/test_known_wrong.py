"""What is known to be wrong never becomes a golden; the last line of a failure is its cause."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]
OPTIONS = ("-p", "no:cacheprovider")

KNOWN = """
    import os, pytest
    SIDE = int(os.environ["SIDE"])

    {mark}
    def test_known(msdump):
        {inside}
        msdump.check("v", 1.0 + SIDE)

    def test_right(msdump):
        msdump.check("v", 2.0)
"""
MARK = '@pytest.mark.xfail(SIDE == 1, reason="known", strict=False)'
APPLIED = "SIDE == 1 and request.applymarker(pytest.mark.xfail(reason='known'))"


@pytest.mark.parametrize("inside", ["pass", "applied"])
def test_a_regeneration_leaves_out_what_is_marked_xfail(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, inside: str
) -> None:
    text = KNOWN.format(mark=MARK if inside == "pass" else "", inside="pass" if inside == "pass" else APPLIED)
    if inside == "applied":
        text = text.replace("test_known(msdump)", "test_known(msdump, request)")
    pytester.makepyfile(test_wrong=text)
    monkeypatch.setenv("SIDE", "0")
    assert pytester.runpytest_inprocess("--msdump-regen", *OPTIONS).ret == 0
    golden = pytester.path / "golden" / "test_wrong" / "test_known.h5"
    before = golden.read_bytes()
    monkeypatch.setenv("SIDE", "1")
    result = pytester.runpytest_inprocess("--msdump-regen", *OPTIONS)
    result.stdout.fnmatch_lines(["left out, because marked xfail*", "  test_wrong.py::test_known"])
    assert golden.read_bytes() == before
    assert pytester.runpytest_inprocess("--msdump", *OPTIONS).parseoutcomes() == {"passed": 1, "xfailed": 1}
    monkeypatch.setenv("SIDE", "0")
    assert pytester.runpytest_inprocess("--msdump", *OPTIONS).parseoutcomes() == {"passed": 2}
    monkeypatch.setenv("SIDE", "1")
    assert pytester.runpytest_inprocess("--msdump-regen", "--runxfail", *OPTIONS).ret == 0
    assert golden.read_bytes() != before


def test_the_last_line_is_the_cause(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytester.makepyfile(
        test_cause="""
        import os
        import numpy as np

        def test_times(msdump):
            msdump.check("v", np.arange(1.0, 9.0) * (1 + int(os.environ["SIDE"])))
        """
    )
    monkeypatch.setenv("SIDE", "0")
    assert pytester.runpytest_inprocess("--msdump-regen", *OPTIONS).ret == 0
    monkeypatch.setenv("SIDE", "1")
    monkeypatch.setenv("COLUMNS", "200")
    result = pytester.runpytest_inprocess("--msdump", *OPTIONS)
    result.stdout.fnmatch_lines(["FAILED test_cause.py::test_times* - output.0: found is expected times 2"])


WRONG = """
    import pytest

    @pytest.mark.xfail(reason="known")
    def test_asserts(msdump):
        msdump.check("v", 1.0)
        assert False

    def test_says_so(msdump):
        msdump.check("v", 1.0)
        pytest.xfail("known")

    @pytest.mark.xfail(reason="known")
    def test_passes(msdump):
        msdump.check("v", 1.0)

    def test_right(msdump):
        msdump.check("v", 2.0)
"""


def test_whichever_way_it_is_wrong(gate: pytest.Pytester) -> None:
    gate.makepyfile(test_wrong=WRONG)
    result = gate.runpytest("--msdump-regen", *OPTIONS)
    result.stdout.fnmatch_lines(
        [
            "left out, because marked xfail*",
            "  test_wrong.py::test_asserts", "  test_wrong.py::test_passes", "  test_wrong.py::test_says_so",
        ]
    )  # fmt: skip
    assert "not compared 0" in result.stdout.str()
    assert [path.name for path in gate.path.rglob("*.h5")] == ["test_right.h5"]
    # A check leaves nothing of it to take over.
    result = gate.runpytest("--msdump", *OPTIONS)
    assert result.parseoutcomes() == {"passed": 1, "xfailed": 3}
    assert not (gate.path / ".msdump" / "candidates").exists()
