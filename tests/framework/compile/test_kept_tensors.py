"""What a user keeps of a gradient's calls in PyNative mode has its values afterwards (measured)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from harness import Parameter, Tensor, context, grad, nn, ops, value_and_grad
from harness.errors import TraceError

X = Tensor([1.0, -2.0, 3.0])


@pytest.fixture(autouse=True)
def pynative() -> Iterator[None]:
    before = context.get_context("mode")
    context.set_context(mode=context.PYNATIVE_MODE)
    yield
    context.set_context(mode=before)


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.w = Parameter(Tensor([2.0, 3.0, 4.0]), name="w")
        self.relu = nn.ReLU()
        self.last: Any = None

    def construct(self, x: Tensor) -> Tensor:
        self.last = x * self.w
        return self.relu(self.last).sum()


def test_attributes_and_lists() -> None:
    net, kept = Net(), list[Tensor]()

    def loss(x: Tensor) -> Tensor:
        kept.append(ops.exp(x))
        return net(x)

    _, slopes = value_and_grad(loss, None, net.trainable_params())(X)
    nn.SGD(net.trainable_params(), 1.0)(slopes)
    np.testing.assert_array_equal(net.last.asnumpy(), [2, -6, 12])  # with the weight as it was
    np.testing.assert_allclose(kept[0].asnumpy(), np.exp([1.0, -2.0, 3.0]), rtol=1e-6)
    assert type(net.last) is Tensor
    assert float((net.last + kept[0]).sum()) == pytest.approx(8 + np.exp([1.0, -2.0, 3.0]).sum())


def test_hooks_forward_and_backward() -> None:
    net, kept = Net(), dict[str, Tensor]()
    net.relu.register_forward_hook(lambda cell, inputs, output: kept.update(act=output))
    net.relu.register_backward_hook(lambda cell, given, wanted: kept.update(slope=wanted[0]))
    assert grad(net)(X).asnumpy().tolist() == [2.0, 0.0, 4.0]
    assert kept["act"].asnumpy().tolist() == [2.0, 0.0, 12.0]
    assert kept["slope"].asnumpy().tolist() == [1.0, 1.0, 1.0]


def test_what_is_drawn_is_known_to_nobody() -> None:
    kept = list[Tensor]()

    def drawn(x: Tensor) -> Tensor:
        kept.append(ops.dropout(x, 0.5))
        return (kept[0] * x).sum()

    grad(drawn)(X)
    with pytest.raises(TraceError):
        kept[0].asnumpy()
