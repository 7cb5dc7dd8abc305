"""Ranks of PyTorch beside their own goldens: a fault of each kind that has a place, in small networks."""

from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("torch")

from harness.explain.ranks import lines
from harness.testing.layouts.training import Fault, Plan
from tests.explain.ranks.torch_trainings import judged, told

pytestmark = [pytest.mark.interop, pytest.mark.filterwarnings("ignore:FSDP2-wrapped module")]

PLANS = [
    Plan("mlp", "data", 2, 5, 2, adam=True, fault=Fault("scaled twice", 0, 1)),
    Plan("mlp", "data", 2, 6, 2, fault=Fault("dropped", 1, 1)),
    Plan("convolution", "ddp", 2, 7, fault=Fault("buffer", 0, 1)),
    Plan("mlp", "ddp", 2, 8, 2, fault=Fault("never synced", 0, 1)),
    Plan("gated", "fsdp", 2, 9, adam=True, fault=Fault("rate", 1, 1)),
    Plan("mlp", "sequence", 2, 10, fault=Fault("clip", 0, 1)),
    Plan("gated", "tensor", 2, 11, fault=Fault("frozen", 1, 2)),
    Plan("mlp", "data", 2, 12, fault=Fault("bit in a result", 1, 1, "3")),
]


def test_faults_of_one_rank_and_of_all() -> None:
    for plan, golden, report, own, same in told(PLANS):
        held = judged(plan, golden, report, own, same)
        assert all(held[each] for each in ("seen", "rank", "place", "cause")), (plan, held, lines(report))
        assert not any(held[each] for each in ("false", "false alone", "others")), (plan, held, lines(report))


def test_clean_runs() -> None:
    for _, _, report, own, same in told([replace(each, fault=None) for each in PLANS[:4]]):
        assert (report.first, own.first, same) == (None, None, True)
