"""Whose scope a gradient takes beside a call that nothing uses (MindSpore 2.10.0, measured)."""

from __future__ import annotations

import numpy as np
import pytest

from harness import Tensor, nn, ops
from tests.framework.compile.build import compiled

X = Tensor(np.arange(24, dtype=np.float32).reshape(6, 4) / 8)


class Net(nn.Cell):
    """A layer is called before a loop, where nothing uses its result; behind it perhaps again."""

    def __init__(self, again: bool) -> None:
        super().__init__()
        self.again = again
        self.layer = nn.Dense(4, 4, weight_init="ones")
        self.last = nn.Dense(4, 3, weight_init="ones")

    def construct(self, x: Tensor) -> Tensor:
        _ = self.layer(x)
        y = x
        for _i in range(2):
            y = ops.gelu(y)
        return self.last(self.layer(x) + y if self.again else y)


@pytest.mark.parametrize(("again", "scope"), [(False, "last-Dense"), (True, "layer-Dense")])
def test_an_idle_call_counts_where_the_same_function_graph_is_used(again: bool, scope: str) -> None:
    net = Net(again)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), learning_rate=0.1))
    step.set_train()
    with compiled() as graphs:
        step(X, Tensor(np.ones((6, 3), np.float32)))
    scopes = {n.scope for n in graphs[0].execution_order if "Grad_MatMul" in n.scope or "Grad_BiasAdd" in n.scope}
    assert {s.split("/")[-2] for s in scopes} == {scope}


class Activated(nn.Cell):
    """An activation inside a layer, and two in a row behind it."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Dense(4, 4, activation="tanh")
        self.row = nn.SequentialCell([nn.Tanh(), nn.Tanh()])
        self.last = nn.Dense(4, 3)

    def construct(self, x: Tensor) -> Tensor:
        return self.last(self.row(self.first(x)))


def test_the_result_of_a_layer_passes_its_checks_first() -> None:
    net = Activated()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), learning_rate=0.1))
    step.set_train()
    with compiled() as graphs:
        step(X, Tensor(np.ones((6, 3), np.float32)))
    scopes = {n.scope for n in graphs[0].execution_order if n.op == "TanhGrad"}
    assert {s.split("/")[-2] for s in scopes} == {"1-Tanh"}
