"""The explanation names a gradient that was cut off (``stop_gradient``), and none of its consequences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from harness import Tensor, nn, ops
from tests.explain.runs import captured, told


class Net(nn.Cell):
    """Three layers; ``cut`` stops the gradient behind the first or the second."""

    def __init__(self, activation: Callable[[Any], Any], cut: int) -> None:
        super().__init__()
        drawn = np.random.default_rng(1)

        def dense(taken: int, given: int) -> nn.Dense:
            weight = Tensor(drawn.normal(size=(given, taken)).astype(np.float32))
            return nn.Dense(taken, given, weight_init=weight, bias_init="zeros")

        self.hidden, self.out, self.last = dense(4, 6), dense(6, 3), dense(3, 3)
        self.activation, self.cut = activation, cut

    def construct(self, x: Tensor) -> Any:
        h = self.activation(self.hidden(x))
        if self.cut == 1:
            h = ops.stop_gradient(h)
        h = ops.tanh(self.out(h))
        if self.cut == 2:
            h = ops.stop_gradient(h)
        return self.last(h)


def program(activation: Callable[[Any], Any], optimizer: Any, cut: int) -> Callable[[], Any]:
    def run() -> None:
        network = Net(activation, cut)
        step = nn.TrainOneStepCell(
            nn.WithLossCell(network, nn.MSELoss()), optimizer(network.trainable_params(), 0.1)
        ).set_train()
        step(Tensor(np.linspace(-1, 1, 20, dtype=np.float32).reshape(5, 4)), Tensor(np.ones((5, 3), np.float32)))

    return run


@pytest.mark.sampled(3)
@pytest.mark.parametrize("cut", [1, 2])
@pytest.mark.parametrize("optimizer", [nn.SGD, nn.Adam])
@pytest.mark.parametrize("activation", [ops.relu, ops.tanh, ops.softmax], ids=lambda each: each.__name__)
def test_a_gradient_that_is_cut_off(activation: Callable[[Any], Any], optimizer: Any, cut: int) -> None:
    golden, run = (captured(program(activation, optimizer, each)) for each in (0, cut))
    lines = told(golden, run).splitlines()
    assert "no gradient reaches hidden.weight, hidden.bias" in lines[1]
    assert "; removed: " in lines[1]
    assert lines[2].startswith(("First divergence: iteration 0, Gradients/", "First divergence: iteration 0, Expand/"))
    assert "optimizer" not in "".join(lines[:3])
