"""Layouts of PyTorch beside one rank: right ones hold, and faults of parallel training have place, rank and cause."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from harness.testing.layouts.plans import FAULTS, LAYOUTS, faults, judged, layouts

pytestmark = [pytest.mark.interop, pytest.mark.filterwarnings("ignore:FSDP2-wrapped module")]


def test_right_layouts_hold() -> None:
    plans = layouts(20261129)
    assert len(plans) >= 30
    assert {plan.layout for plan in plans} == set(LAYOUTS)
    alarms = [each.lines() for each in judged(plans) if each.report.first is not None or each.report.unread]
    assert not alarms, "\n".join(line for each in alarms for line in each)


def test_faults_of_parallel_training() -> None:
    outcomes = list(judged(faults(len(FAULTS), 7)))
    wrong = [each.lines() for each in outcomes if each.false or not (each.origin and each.rank and each.cause)]
    assert not wrong, "\n".join(line for each in wrong for line in each)
