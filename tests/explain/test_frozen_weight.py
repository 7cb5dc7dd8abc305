"""A weight that is trained no more is named, though the others' updates have other numbers; what is gone is counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from harness import Tensor, nn
from tests.explain.runs import captured, explained


class Recurrent(nn.Cell):
    """The last of an LSTM's outputs through a layer."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(2, 3)
        self.norm = nn.BatchNorm1d(3)
        self.out = nn.Dense(3, 1)

    def construct(self, x: Tensor) -> Any:
        return self.out(self.norm(self.lstm(x)[0][-1]))


def program(optimizer: Callable[[Any], Any], frozen: str) -> Callable[[], Any]:
    def run() -> None:
        network = Recurrent()
        for parameter in network.trainable_params():
            values = np.random.default_rng(1).normal(size=parameter.shape)
            parameter.set_data(Tensor(values.astype(np.float32)))
            parameter.requires_grad = parameter.name != frozen
        loss = nn.WithLossCell(network, nn.MSELoss())
        step = nn.TrainOneStepCell(loss, optimizer(network.trainable_params())).set_train()
        step(Tensor(np.linspace(-1, 1, 16, dtype=np.float32).reshape(4, 2, 2)), Tensor(np.ones((2, 1), np.float32)))

    return run


@pytest.mark.sampled(3)
@pytest.mark.parametrize("frozen", ["lstm.weight_ih_l0", "lstm.weight_hh_l0", "norm.gamma", "norm.beta"])
@pytest.mark.parametrize(
    "optimizer", [lambda p: nn.Adam(p, 0.1), lambda p: nn.Momentum(p, 0.1, 0.9)], ids=["Adam", "Momentum"]
)
def test_a_frozen_weight(optimizer: Callable[[Any], Any], frozen: str) -> None:
    golden, run = (captured(program(optimizer, each)) for each in ("", frozen))
    explanation = explained(golden, run)
    assert explanation.cause is not None
    assert f"{frozen} is not trained" in explanation.cause.text
    lacking = {record.key.operator for record in golden.records()} - {record.key.operator for record in run.records()}
    assert any("Adam-op" in name or "ApplyMomentum-op" in name for name in lacking)
    assert any(line.startswith("Slots: ") and " 0 missing" not in line for line in explanation.others)
