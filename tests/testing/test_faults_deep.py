"""The suite of faults at length: a fixed seed, and one that nobody saw before."""

from __future__ import annotations

import secrets

import pytest

from harness.explain import block
from harness.testing.faults import run
from harness.testing.faults.suite import alarms
from harness.testing.faults.table import tally

pytestmark = pytest.mark.deep

#: faults a seed
COUNT = 250


@pytest.mark.parametrize("seed", [1, secrets.randbelow(1 << 30)], ids=["fixed", "fresh"])
def test_origins_and_causes_are_right(seed: int) -> None:
    outcomes = list(run(COUNT, seed))
    every, _ = tally(outcomes)
    wrong = [(each.fault.number, each.fault.kind, each.explanation and block(each.explanation)) for each in every.wrong]
    assert every.counts["faults"] >= 0.9 * COUNT * 2
    longest = max(len(block(each.explanation).split("\n")) for each in outcomes if each.explanation is not None)
    assert longest <= 12, seed
    assert every.counts["passed"] == 0, (seed, wrong)
    assert every.share("origin right") >= 0.98, (seed, wrong)
    assert every.share("cause right", "cause stated") >= 0.98, (seed, wrong)
    assert every.share("proven") >= 0.7, (seed, wrong)


@pytest.mark.parametrize("seed", [0, secrets.randbelow(1 << 30)], ids=["fixed", "fresh"])
def test_clean_reruns_raise_no_alarm(seed: int) -> None:
    assert [(each.family, each.seed) for each in alarms(2500, seed)] == [], seed
