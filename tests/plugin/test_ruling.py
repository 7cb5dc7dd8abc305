"""Which tolerance rules, and that the failure's text says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.compare import Comparison, Tolerances, Verdict
from harness.compare.party import BITS, HERE, NOISE_RULE, TABLE, Party, ruling
from harness.compare.policy import judge
from harness.explain import Evidence, Subject, block, explained
from tests.compare.helpers import operator

pytest_plugins = ["pytester"]
X = np.linspace(1, 2, 6, dtype=np.float32)


def side(off: float = 0.0, **about: Any) -> Party:
    made = operator("Default/Add-op0", [X], [X + np.float32(off)])
    return Party(made, **({"backend": "cpu"} | about))


@given(
    asked=st.sampled_from([None, 1e-1]),
    kept=st.sampled_from([None, 1e-2]),
    learned=st.sampled_from([0, 3]),
    emulated=st.booleans(),
    beside=st.booleans(),
)
def test_the_first_that_is_given_rules(asked: Any, kept: Any, learned: int, emulated: bool, beside: bool) -> None:
    golden = side(emulated=emulated, tolerance=kept, learned=learned)
    found = side(emulated=emulated, backend="gpu" if beside else "cpu")
    tolerances, rule = ruling(golden, found, asked, beside=beside, by="the marker")
    default: Any = tolerances.default
    if asked:
        assert (default.rtol, rule) == (asked, "given by the marker")
    elif kept and not beside:
        words = "stored with the golden, learned from 3 runs" if learned else "stored with the golden"
        assert (default.rtol, rule) == (kept, words)
    elif emulated and not beside:
        assert default.exact
        assert rule == BITS
    else:
        assert tolerances == Tolerances.parse("default")
        assert rule == TABLE


@pytest.mark.parametrize(("asked", "emulated", "elsewhere"), [
    (None, False, True), (None, False, False), (1e-5, False, True), (None, True, True),
])  # fmt: skip
def test_rounding_is_admitted_elsewhere(asked: Any, emulated: bool, elsewhere: bool) -> None:
    def settled(comparison: Comparison, *_: Party) -> Comparison:
        for slot in comparison.slots:
            slot.verdict = Verdict.WITHIN
        comparison.forget_counts()
        return comparison

    facts = [{"numpy": "1"}, {"numpy": "2" if elsewhere else "1"}]
    golden, found = (
        side(off, emulated=emulated, environment=lambda at=at: facts[at])  # type: ignore[misc]
        for at, off in enumerate((0.0, 1e-2))
    )
    judged = judge(golden, found, asked, lay=lambda *_: None, settle=settled)
    assert judged.holds is (elsewhere and asked is None and not emulated)
    assert (judged.rule == NOISE_RULE) is judged.holds
    if not judged.holds:
        evidence = [Evidence(each.records, dict) for each in (golden, found)]
        made = explained(judged, Subject("run", "golden"), *evidence)
        assert made is not None
        lines = [line for line in block(made).split("\n") if line.startswith("Tolerance: ")]
        tolerance = "rtol=1e-05" if asked else "rtol=1e-05 scaled=1e-06 max_ulp=1"
        assert lines == ([] if emulated else [f"Tolerance: {tolerance}, {judged.rule}"])


@pytest.mark.parametrize("off", [1e-6, 0.5])
def test_the_goldens_own_environment_asks_for_bits(off: float) -> None:
    """Whether values differ a little or much: the rule is the same, and is named."""
    about: dict[str, Any] = {"environment": lambda: {"numpy": "1"}, "repeated": lambda: True, "backend": "torch"}
    judged = judge(side(**about), side(off, **about), lay=lambda *_: None)
    assert not judged.holds
    assert judged.rule == HERE
    evidence = [Evidence(side(at, **about).records, dict) for at in (0.0, off)]
    made = explained(judged, Subject("run", "golden"), *evidence)
    assert made is not None
    assert made.tolerance == f"exact, {HERE}"


@pytest.mark.parametrize(("marker", "options", "said"), [
    ("(tolerance=1e-3)", [], "rtol=0.001, given by the marker"),
    ("", ["--msdump-tolerance=exact"], "exact, given by --msdump-tolerance"),
    ("", [], "rtol=1e-05 scaled=1e-06 max_ulp=1, from the table by dtype, since none is given"),
    ("hook", [], "rtol=0.0001, given by the hook pytest_msdump_tolerance"),
    ("(tolerance='noise')", [], "rtol=1e-05 scaled=1e-06 max_ulp=1 and rounding, given by the marker"),
    ("(tolerance={'check/other': 1e-3})", [], "exact, since the table given by the marker names no other"),
    ("(tolerance={'check/other': 1e-3, 'default': 'default'})", [],
     "rtol=1e-05 scaled=1e-06 max_ulp=1, given by the marker"),
    ("(tolerance={'check/out': 1e-3})", [], "rtol=0.001, given by the marker"),
])  # fmt: skip
def test_the_gate_names_it(
    gate: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, marker: str, options: list[str], said: str
) -> None:
    if marker == "hook":
        gate.makeconftest("def pytest_msdump_tolerance(): return 1e-4")
    gate.makepyfile(
        test_it=f"""
        import os, numpy as np, pytest

        @pytest.mark.msdump{marker.removeprefix("hook")}
        def test_it(msdump):
            msdump.check("out", np.float32([1, 2, 3]) + np.float32(os.environ.get("OFF", 0)))
        """
    )
    assert gate.runpytest_inprocess("--msdump-regen", "-p", "no:cacheprovider").ret == 0
    monkeypatch.setenv("OFF", "0.5")
    ended = gate.runpytest_inprocess("--msdump", "-p", "no:cacheprovider", *options)
    (line,) = [line for line in ended.outlines if line.startswith("Tolerance: ")]
    assert line.removeprefix("Tolerance: ") == said
