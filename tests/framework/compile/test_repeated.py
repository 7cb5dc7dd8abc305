"""A network that one graph calls and differentiates: how often its statistics move (MindSpore 2.10.0, measured)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from harness.framework import Parameter, Tensor, nn, ops, set_context
from harness.framework.context import GRAPH_MODE, PYNATIVE_MODE

X = Tensor((np.arange(16).reshape(2, 1, 2, 4) ** 2).astype(np.float32))
MEAN = 77.5


@pytest.fixture(autouse=True)
def graph_mode() -> Iterator[None]:
    set_context(mode=GRAPH_MODE)
    yield
    set_context(mode=PYNATIVE_MODE)


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm2d(1, momentum=0.5)

    def construct(self, x: Tensor) -> Tensor:
        return (self.norm(x) ** 3).sum()


class Step(nn.Cell):
    def __init__(self, how: str) -> None:
        super().__init__()
        self.net, self.how = Net(), how
        self.weights = self.net.trainable_params()
        self.grad = ops.GradOperation(get_by_list=True)
        self.count = Parameter(Tensor(np.float32(2)), name="count")

    def gradient(self, x: Tensor) -> Tensor:
        return self.grad(self.net, self.weights)(x)[0].sum()

    def construct(self, x: Tensor) -> Tensor:
        if self.how == "other arguments":
            return self.net(x * 2) + self.gradient(x)
        loss = self.net(x)
        if self.how == "called twice":
            loss = loss + self.net(x * 2)
        if self.how == "assigned between":
            ops.assign(self.count, self.count + 1)
        return loss + self.gradient(x)


@pytest.mark.parametrize(
    ("how", "factors"),
    [
        ("once", [1]),
        ("assigned between", [1]),
        ("other arguments", [2, 1]),
        ("called twice", [1, 2, 1]),
    ],
)
def test_how_often_statistics_move(how: str, factors: list[int]) -> None:
    step = Step(how).set_train()
    step(X)
    expected = 0.0
    for factor in factors:
        expected = 0.5 * (expected + factor * MEAN)
    np.testing.assert_allclose(step.net.norm.moving_mean.asnumpy(), [expected], rtol=1e-5)
