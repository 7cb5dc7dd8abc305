"""Networks drawn in both frameworks hold under ``noise``; what one of the two does otherwise is seen, and named."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

from harness.compare import Verdict
from harness.testing.beside import cells
from harness.testing.beside.suite import Outcome, judged, outcomes, table
from harness.testing.beside.twins import draw

pytestmark = pytest.mark.interop

#: more of them are in ``python -m benchmarks beside``
FAULTS = 10


@pytest.mark.parametrize("family", cells.BUILD)
def test_right_pairs_hold(family: str) -> None:
    twin = draw(0, family)
    judgement = judged(twin.ours(), twin.theirs())
    assert [(slot.key, slot.verdict, slot.reason) for slot in judgement.comparison.failures()] == []
    assert judgement.code == 0
    assert judgement.comparison.counts[Verdict.WITHIN] > 10


@pytest.mark.parametrize("loss", cells.LOSSES)
@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_right_losses_hold(loss: str, reduction: str) -> None:
    twin = draw(3, "mlp").having(loss=loss, reduction=reduction, depth=1)
    assert judged(twin.ours(), twin.theirs()).comparison.failures() == []


@pytest.mark.parametrize("change", [{"width": 10}, {"act": "tanh"}, {"loss": "l1"}, {"depth": 2}, {"rate": 0.2}])
def test_other_networks_do_not_hold(change: dict[str, Any]) -> None:
    twin = draw(3, "mlp").having(width=8, act="sigmoid", loss="mse", depth=1, rate=0.1, optimizer="momentum")
    assert judged(twin.ours(), twin.having(**change).theirs()).code == 1


@pytest.fixture(scope="module")
def faulty() -> list[Outcome]:
    return list(outcomes(FAULTS, 0))


def test_no_fault_passes(faulty: list[Outcome]) -> None:
    assert len(faulty) == FAULTS
    assert [each.kind for each in faulty if each.passed] == []


def test_faults_are_named(faulty: list[Outcome]) -> None:
    missed = [(each.kind, each.twin.family, each.origin and each.origin.title()) for each in faulty if not each.named]
    assert missed == []


def test_the_table(faulty: list[Outcome]) -> None:
    lines = table(faulty)
    assert len(lines) == 2 + len(cells.BUILD) + 1
    assert lines[-1].startswith(f"| all | {FAULTS} | 0 | ")
