"""Graphs that values decide: gradients through control flow on tensors, ``break`` and ``continue``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from harness import GRAPH_MODE, PYNATIVE_MODE, Parameter, Tensor, grad, nn, ops, set_context
from harness.framework.runtime.session import fresh


@pytest.fixture(autouse=True)
def _graph_mode() -> Iterator[None]:
    set_context(mode=GRAPH_MODE)
    with fresh():
        yield
    set_context(mode=PYNATIVE_MODE)


class Either(nn.Cell):
    def construct(self, x: Any) -> Any:
        if x.sum() > 0:
            y = x * x
        else:
            y = x * 3
        return y.sum()


class Doubled(nn.Cell):
    def construct(self, x: Any) -> Any:
        steps = 0
        while steps < 10:
            x = x * 2
            steps = steps + 1
            if x > 100:
                break
        return x, steps


class Odd(nn.Cell):
    def construct(self, n: Any) -> Any:
        total, i = Tensor(0), Tensor(0)
        while i < n:
            i = i + 1
            if i % 2 == 0:
                continue
            total = total + i
        return total


def test_each_call_takes_its_own_way() -> None:
    net = Either()
    slopes = [grad(net)(Tensor(np.array(x, np.float32))).asnumpy().tolist() for x in ([1, 2], [-1, 0.5], [2, 2])]
    assert slopes == [[2, 4], [3, 3], [4, 4]]


def test_break_and_continue() -> None:
    net = Doubled()
    assert [tuple(map(float, net(Tensor(x)))) for x in (3.0, 0.01, 50.0)] == [
        (192, 6),
        (pytest.approx(10.24), 10),
        (200, 2),
    ]
    assert [int(Odd()(Tensor(n))) for n in (7, 2)] == [16, 1]


def test_a_way_that_was_taken_before_is_not_compiled_again() -> None:
    net = Doubled()
    with fresh() as session:
        for x in (3.5, 3.25, 3.75):
            net(Tensor(x))
        assert session._next_graph == 1
        net(Tensor(60.0))
        assert session._next_graph == 2


def test_a_training_step_goes_through() -> None:
    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.w = Parameter(Tensor(np.array([0.5, -1.0], np.float32)), name="w")

        def construct(self, x: Any) -> Any:
            y = x * self.w
            while ops.abs(y).sum() > 1:
                y = y / 2
            return (y * y).sum()

    net = Net()
    step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.1))
    x = Tensor(np.array([2.0, 4.0], np.float32))
    losses = [float(step(x)) for _ in range(3)]
    assert losses == sorted(losses, reverse=True)
