"""A sample of the suite of faults: each is seen, and what is said of it is right."""

from __future__ import annotations

import pytest

from harness.testing.faults import Outcome, faults, run
from harness.testing.faults.suite import captured
from harness.testing.faults.table import Tally, table, tally


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    return list(run(14, 3))


def test_none_passes(outcomes: list[Outcome]) -> None:
    assert not any(each.passed for each in outcomes)


def test_origins_are_named(outcomes: list[Outcome]) -> None:
    assert [each.fault.kind for each in outcomes if not each.named] == []


def test_stated_causes_are_right(outcomes: list[Outcome]) -> None:
    assert [each.fault.kind for each in outcomes if each.stated and not each.right] == []


def test_most_are_proven(outcomes: list[Outcome]) -> None:
    assert sum(each.proven for each in outcomes) >= 0.7 * len(outcomes)


def test_the_same_seed_draws_the_same() -> None:
    one, other = (next(iter(faults(1, 5))) for _ in range(2))
    assert (one.kind, one.network.seed, one.truth) == (other.kind, other.network.seed, other.truth)
    assert [r.digest for r in one.run.records()] == [r.digest for r in other.run.records()]


def test_a_clean_rerun_is_no_fault(outcomes: list[Outcome]) -> None:
    network = outcomes[0].fault.network
    digests = [[r.digest for r in captured(network).records()] for _ in range(2)]
    assert digests[0] == digests[1]


def test_the_table(outcomes: list[Outcome]) -> None:
    every, families = tally(outcomes)
    lines = table(every, families)
    assert len(lines) == 2 + len(families) + 1
    assert lines[-1].startswith("| all | 14 | 0 |")
    assert Tally().share("proven") == 0.0
