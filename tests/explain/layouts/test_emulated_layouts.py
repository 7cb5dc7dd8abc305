"""Layouts of the emulator's ranks beside one rank: right ones hold, and faults have their place and cause."""

from __future__ import annotations

import pytest

from harness.explain.ranks import lines
from tests.explain.layouts.emulated import FAULTS, LAYOUTS, drawn, judged, told

#: faults that each run of the long tests has; the deep ones have all
SOME = ("one unreduced", "stale", "missing forward", "bias on each", "strided")


@pytest.mark.long
@pytest.mark.parametrize("layout", LAYOUTS)
def test_right_layouts_hold(layout: str) -> None:
    report, _ = told(drawn(3, layout=layout))
    assert report.first is None, lines(report)
    assert report.compared > 24
    assert any("nothing states how that is joined" in each for each in report.notes)


@pytest.mark.parametrize(
    "fault", [pytest.param(each, marks=pytest.mark.long if each in SOME else pytest.mark.deep) for each in FAULTS]
)
def test_faults_have_their_place_and_cause(fault: str) -> None:
    plan = drawn(3, fault)
    report, names = told(plan)
    held = judged(plan, report, names)
    assert held == {"seen": True, "origin": True, "cause": True, "false": False}, [plan, *lines(report)]
