"""Faults in one rank of drawn trainings, which the emulator runs in a process for each rank."""

from __future__ import annotations

import pytest

from harness.explain.ranks import RanksReport, alone, beside, lines, run_of
from tests.explain.ranks.emulated import Training, drawn, drawn_fault, kinds_of, run
from tests.explain.ranks.faults import FAULTS, Fault

#: what has no operator of its own: the fault lies in the data, a seed or a weight
_WITHOUT_OPERATOR = ("shard", "batch", "seed", "replica")


def named(report: RanksReport) -> str:
    """The cause of the first finding; empty if there is none."""
    return report.first.cause.name if report.first is not None and report.first.cause is not None else ""


def check(fault: Fault, operator: str, report: RanksReport, own: RanksReport) -> None:
    """Asserts that the fault is told right, beside its golden and without."""
    assert report.first is not None, fault
    assert report.first.ranks == (fault.rank,), (fault, lines(report))
    assert report.others == [], (fault, lines(report))
    if fault.kind not in _WITHOUT_OPERATOR:
        assert report.first.execution.operator == operator, (fault, lines(report))
        assert report.first.execution.iteration == fault.iteration, (fault, lines(report))
    with_golden, without = FAULTS[fault.kind]
    assert named(report) == with_golden, (fault, lines(report))
    assert named(own) == without, (fault, lines(own))
    assert own.first is None or own.first.ranks == (fault.rank,), (fault, lines(own))


def pairs() -> Training:
    """A training whose ranks share layers two by two."""
    return next(each for each in map(drawn, range(50)) if each.layout == "pairs" and not each.norm)


def test_groups_are_those_that_the_graphs_state() -> None:
    training = pairs()
    good, _ = run(training)
    golden = run_of(good)
    found = alone(golden)
    assert found.first is None, lines(found)
    fault = drawn_fault(training, "fewer ranks")
    bad, operator = run(training, fault)
    check(fault, operator, beside(golden, run_of(bad)), alone(run_of(bad)))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20, 24))
def test_every_kind_of_fault(seed: int) -> None:
    training = drawn(seed)
    good, _ = run(training)
    golden = run_of(good)
    found = alone(golden)
    assert found.first is None, lines(found)
    for kind in kinds_of(training):
        fault = drawn_fault(training, kind)
        bad, operator = run(training, fault)
        check(fault, operator, beside(golden, run_of(bad)), alone(run_of(bad)))
