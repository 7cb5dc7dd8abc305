"""``parameter_broadcast``: every rank trains with the parameters of rank 0."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness import Tensor, context, nn
from harness.errors import CollectiveError
from harness.framework.nn.sharing import take_from_rank_0
from tests.framework.communication.together import together


def test_every_rank_takes_over_those_of_rank_0() -> None:
    def run(rank: int) -> Any:
        net = nn.Dense(3, 2, weight_init=Tensor(np.full((2, 3), rank + 1, np.float32)), bias_init="ones")
        take_from_rank_0(net.get_parameters())
        return net.weight.asnumpy().tolist()

    found, failure = together(3, run)
    assert failure == ""
    assert found == [[[1.0] * 3] * 2] * 3


def test_ranks_with_other_parameters_are_told_so() -> None:
    def run(rank: int) -> None:
        take_from_rank_0(nn.Dense(3, 2 + rank).get_parameters())

    found, failure = together(2, run)
    assert all(isinstance(each, CollectiveError) for each in found)
    assert "weight Float32[2, 3]" in failure
    assert "weight Float32[3, 3]" in failure


def test_the_step_shares_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MS_WORKER_NUM", "2")
    context.set_auto_parallel_context(parallel_mode="data_parallel", parameter_broadcast=True, gradients_mean=True)
    shared: list[int] = []
    monkeypatch.setattr("harness.framework.nn.wrappers.take_from_rank_0", lambda given: shared.append(len(list(given))))
    try:
        net = nn.Dense(3, 2)
        step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1))
        for _ in range(2):
            step(Tensor(np.ones((1, 3), np.float32)), Tensor(np.ones((1, 2), np.float32)))
    finally:
        context.reset_auto_parallel_context()
    assert len(shared) == 1
