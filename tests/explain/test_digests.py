"""Explanations for goldens that kept digests and statistics, but no values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from harness.backends.align import lay_beside
from harness.capture import Capture
from harness.compare.policy import Party, judge
from harness.explain import Certainty, Evidence, Explanation, Subject, explained
from harness.store import GoldenStore, RunData, RunId, StoredRun, update
from harness.testing.faults import run
from harness.testing.faults.networks import Network, draw
from harness.testing.faults.roads import captured
from tests.explain.runs import side

RUN = RunId("cpu", "tensor")


@pytest.fixture(scope="module")
def network() -> Network:
    seed = next(seed for seed in range(200) if draw(seed).family == "mlp")
    settings = {"norm": False, "act": "relu", "drop": 0.0, "optimizer": "momentum", "rate": 0.1, "depth": 3}
    return draw(seed).having(**settings, inputs=8, width=8)


@pytest.fixture(scope="module")
def golden(network: Network, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoredRun]:
    path = tmp_path_factory.mktemp("digests") / "golden.h5"
    made = captured(network)
    update(path, "net", {RUN: RunData(made.records(), made.artefacts, {"emulated": True}, "digest")})
    with GoldenStore.open(path) as store:
        yield store.run(*RUN)


def told(golden: StoredRun, run: Capture) -> Explanation:
    judged = judge(
        Party.of_run(golden), Party(list(run.records()), RUN.backend, RUN.mode, emulated=True), lay=lay_beside
    )
    expected = Evidence(golden.records, golden.artefacts, "cpu", True)
    explanation = explained(judged, Subject("net", "golden"), expected, side(run))
    assert explanation is not None
    return explanation


def cause(explanation: Explanation) -> str:
    assert explanation.cause is not None
    return explanation.cause.text


def test_a_constant_has_both_values(golden: StoredRun, network: Network) -> None:
    assert cause(told(golden, captured(network.having(rate=0.05)))) == "learning_rate 0.1 -> 0.05"


def test_what_differs_is_proven_by_the_digests_of_the_golden(golden: StoredRun, network: Network) -> None:
    """A constant changed back gives the golden's digest; the golden's parameter is found by its digest."""
    explanation = told(golden, captured(network.having(rate=0.05)))
    assert explanation.cause is not None
    assert explanation.cause.certainty is Certainty.REPLAY
    for change, words in ((lambda w: -w, "other sign"), (lambda w: w * 2, "times 2"), (lambda w: w.T.copy(), "[1, 0]")):
        explanation = told(golden, captured(replace(network, weights={"layers.1.weight": change})))
        assert explanation.cause is not None
        assert explanation.cause.certainty.proven
        assert "layers.1.weight" in explanation.cause.text
        assert words in explanation.cause.text


def test_generated_faults_are_named_and_proven() -> None:
    outcomes = list(run(8, 77, ["digests"]))
    assert [each.fault.kind for each in outcomes if not each.named or (each.stated and not each.right)] == []
    assert sum(each.proven for each in outcomes) >= 6


def test_another_parameter_is_told_by_its_digest(golden: StoredRun, network: Network) -> None:
    stolen: Any = next(
        record.load() for record in captured(network).records()
        if record.key.slot_name == "input.1" and "layers-CellList/2-Dense/MatMul" in record.key.operator
    )  # fmt: skip
    text = cause(told(golden, captured(replace(network, weights={"layers.1.weight": lambda _: np.array(stolen)}))))
    assert "layers.1.weight" in text
    assert "it has the bits of layers.2.weight" in text
