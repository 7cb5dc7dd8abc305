"""Gradients that are zeros are passed on to earlier operators; sums leave them out (MindSpore 2.10.0, measured)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import harness as ms
from harness import Tensor, nn, ops
from tests.framework.compile.build import compiled, kernels

X = Tensor(np.float32([[0.5, -1, 2], [1, -0.5, 3]]))


class Net(nn.Cell):
    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def construct(self, x: Tensor) -> Any:
        return self.function(x)


HANDED_ON = {
    "sign": lambda x: ops.sign(ops.exp(x)),
    "round": lambda x: ops.round(ops.exp(x)),
    "ceil": lambda x: ops.ceil(ops.exp(x)),
    "greater": lambda x: (ops.exp(x) > 0.5).astype(ms.float32),
    "argmax": lambda x: ops.argmax(ops.exp(x), 1).astype(ms.float32),
    "isnan": lambda x: ops.isnan(ops.exp(x)).astype(ms.float32),
}


@pytest.mark.parametrize("name", HANDED_ON)
def test_what_stands_before_is_differentiated(name: str) -> None:
    with compiled() as graphs:
        assert not ms.grad(Net(HANDED_ON[name]))(X).asnumpy().any()
    assert kernels(graphs[0]) == ["Exp", "Mul"]


def test_it_ends_at_stop_gradient() -> None:
    with compiled() as graphs:
        ms.grad(Net(lambda x: ops.stop_gradient(ops.exp(x))))(X)
    assert graphs == []


def test_zeros_are_not_summed() -> None:
    net = nn.Dense(3, 2)
    idle = nn.Dense(3, 2, bias_init="zeros")
    optimizer = nn.Adam((*net.trainable_params(), ms.Parameter(idle.bias, name="idle")), weight_decay=0.1)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer)
    with compiled() as graphs:
        step(X, Tensor(np.zeros((2, 2), np.float32)))
    sums = [n for n in graphs[0].execution_order if n.op == "AddN"]
    assert len(sums) == 2  # of weight and bias, not of what is idle


@pytest.mark.parametrize("positions", [0, (0, 1)])
def test_zeros_alone_are_no_graph_but_a_tuple_of_them_is(positions: Any) -> None:
    class Two(nn.Cell):
        def construct(self, x: Tensor, y: Tensor) -> Any:
            return ops.sign(x)

    with compiled() as graphs:
        ms.grad(Two(), positions)(X, X)
    assert len(graphs) == (1 if positions == (0, 1) else 0)


class Second(nn.Cell):
    def construct(self, _: Tensor, y: Tensor) -> Any:
        return ops.exp(y)


class Slopes(nn.Cell):
    """Gradients for both inputs of a function that uses the second alone."""

    def __init__(self) -> None:
        super().__init__()
        self.net = Second()

    def construct(self, x: Tensor, y: Tensor) -> Any:
        return ms.grad(self.net, (0, 1))(x, y)


def test_zeros_and_ones_of_an_open_shape() -> None:
    """Neither is known when the graph is made: MindSpore 2.10.0 runs these operators."""
    net = Slopes()
    net.set_inputs(*(Tensor(shape=[None, 3], dtype=ms.float32) for _ in range(2)))
    with compiled() as graphs:
        idle, used = net(X, X)
    assert sorted(kernels(graphs[0])) == ["Exp", "Mul", "OnesLike", "ZerosLike"]
    assert not idle.asnumpy().any()
    np.testing.assert_array_equal(used.asnumpy(), ops.exp(X).asnumpy())
