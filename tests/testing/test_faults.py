"""A sample of the suite of faults: each is seen, and what is said of it is right."""

from __future__ import annotations

import pytest

from harness.explain import Commands, block
from harness.testing.faults import Outcome, faults, run
from harness.testing.faults.suite import alarms
from harness.testing.faults.table import Tally, table, tally


@pytest.fixture(scope="module", params=[(7, 1), pytest.param((14, 4), marks=pytest.mark.long)], ids=str)
def counts(request: pytest.FixtureRequest) -> tuple[int, int]:
    """How many faults are found by the gate and by ``msdump diff``."""
    return request.param


@pytest.fixture(scope="module")
def outcomes(counts: tuple[int, int]) -> list[Outcome]:
    return [*run(counts[0], 3, ["gate"]), *run(counts[1], 8, ["diff"])]


@pytest.mark.long
def test_none_passes(outcomes: list[Outcome]) -> None:
    assert not any(each.passed for each in outcomes)


@pytest.mark.long
def test_origins_are_named(outcomes: list[Outcome]) -> None:
    assert [each.fault.kind for each in outcomes if not each.named] == []


@pytest.mark.long
def test_stated_causes_are_right(outcomes: list[Outcome]) -> None:
    assert [each.fault.kind for each in outcomes if each.stated and not each.right] == []


@pytest.mark.long
def test_most_are_proven(outcomes: list[Outcome]) -> None:
    assert sum(each.proven for each in outcomes) >= 0.7 * len(outcomes)


def test_the_same_seed_draws_the_same() -> None:
    one, other = (next(iter(faults(1, 5))) for _ in range(2))
    assert (one.kind, one.network.seed, one.truth) == (other.kind, other.network.seed, other.truth)
    assert [r.digest for r in one.run.records()] == [r.digest for r in other.run.records()]


def test_clean_reruns_raise_no_alarm() -> None:
    assert list(alarms(4, 5, each=2)) == []


@pytest.mark.long
def test_what_matters_comes_first(outcomes: list[Outcome]) -> None:
    """The cause stands in the first 3 lines, all there is to say in 12; the run's own lines come last."""
    for outcome in outcomes:
        assert outcome.explanation is not None
        lines = block(outcome.explanation, Commands("msdump show golden/x.h5")).split("\n")
        assert len(lines) <= 12, lines
        assert any(line.startswith("First divergence: ") for line in lines[:3]), lines
        if outcome.stated:
            assert lines[1].startswith("Cause, "), lines


def test_a_structural_fault_has_one_right_kind() -> None:
    kinds = [fault.truth.kinds for fault in faults(8, 2) if fault.truth.structural]
    assert all(len(each) == 1 or each == {"attribute", "constant"} for each in kinds)


@pytest.mark.long
def test_the_table(outcomes: list[Outcome], counts: tuple[int, int]) -> None:
    every, families = tally(outcomes)
    lines = table(every, families)
    assert len(lines) == 2 + len(families) + 1
    assert lines[-1].startswith(f"| all | {len(outcomes)} | 0 |")
    assert lines[-2].startswith(f"| by diff | {counts[1]} | 0 |")
    assert Tally().share("proven") == 0.0
