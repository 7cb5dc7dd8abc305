"""Settings of optimizers whose step is a graph of its own, and whose states no record shows before the first update."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import harness
from harness import Tensor, backends, nn, ops
from harness.capture import Capture
from tests.explain.runs import explained

OPTIMIZERS: dict[str, Any] = {
    "Adam": nn.Adam, "AdamWeightDecay": nn.AdamWeightDecay, "RMSProp": nn.RMSProp, "FTRL": nn.FTRL,
    "AdaMax": nn.AdaMax, "Adagrad": nn.Adagrad,
}  # fmt: skip


def trained(optimizer: str, rate: float, mode: int) -> Capture:
    """Two steps of a function's gradients and an optimizer."""

    def program() -> None:
        harness.set_context(mode=mode)
        random = np.random.default_rng(3)
        x, y, weight = (Tensor(random.normal(size=s).astype(np.float32)) for s in ((3, 4), (3, 2), (2, 4)))
        net = nn.Dense(4, 2, weight_init=weight, bias_init="zeros")
        step = OPTIMIZERS[optimizer](net.trainable_params(), learning_rate=rate)
        gradients = harness.value_and_grad(lambda a, b: ops.square(net(a) - b).mean(), None, step.parameters)
        for _ in range(2):
            step(gradients(x, y)[1])

    before = harness.get_context("mode")
    try:
        return backends.get("cpu").run(program, network="net")
    finally:
        harness.set_context(mode=before)


@pytest.mark.parametrize("mode", [harness.GRAPH_MODE, harness.PYNATIVE_MODE], ids=["graph", "pynative"])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_rate_is_proven(optimizer: str, mode: int) -> None:
    found = explained(trained(optimizer, 0.01, mode), trained(optimizer, 0.03, mode))
    assert found.cause is not None
    assert found.cause.certainty.proven, found.cause.text
    assert "0.01 -> 0.03" in found.cause.text
