"""Layers exchanged, added, left out or shared otherwise are told as what they are, whatever their numbers are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from harness import Parameter, Tensor, nn, ops
from harness.capture import Capture
from tests.explain.runs import captured, told

_LAYERS: dict[str, Callable[[], nn.Cell]] = {
    "dense": lambda: nn.Dense(6, 6), "norm": lambda: nn.LayerNorm((6,)), "drop": lambda: nn.Dropout(p=0.3),
    "relu": nn.ReLU, "tanh": nn.Tanh, "sigmoid": nn.Sigmoid,
}  # fmt: skip


class Net(nn.Cell):
    """Layers in a row, twice through one dense layer, then a product with a parameter."""

    def __init__(self, layers: str, change: str) -> None:
        super().__init__()
        self.body = nn.SequentialCell(*(_LAYERS[name]() for name in layers.split()))
        self.one, self.two = nn.Dense(6, 6), nn.Dense(6, 6)
        self.norm = nn.LayerNorm((6,))
        self.factor = Parameter(Tensor(np.linspace(-1, 1, 36, dtype=np.float32).reshape(6, 6)), name="factor")
        self.change = change

    def construct(self, x: Tensor) -> Any:
        change = self.change
        x = self.body(x)
        y = ops.tanh(self.one(x if change == "norm last" else self.norm(x)))
        y = self.two(y) if change != "shared" else self.one(y)
        x = x + y
        x = self.norm(x) if change == "norm last" else x
        return ops.matmul(x, self.factor.T if change == "transposed" else self.factor)


def run(layers: str, change: str = "") -> Capture:
    def program() -> None:
        network = Net(layers, change)
        for parameter in network.get_parameters():
            if parameter.name != "factor":
                drawn = np.random.default_rng(list(parameter.name.encode()))
                parameter.set_data(Tensor(drawn.normal(size=parameter.shape).astype(np.float32)))
        if change == "frozen":
            network.one.weight.requires_grad = False
        given: Any = network.trainable_params()
        if change == "rates":
            given = [{"params": given[:2], "lr": 0.025}, {"params": given[2:]}]
        step = nn.TrainOneStepCell(nn.WithLossCell(network, nn.MSELoss()), nn.Momentum(given, 0.1, 0.9)).set_train()
        for _ in range(2):
            step(Tensor(np.linspace(-1, 1, 24, dtype=np.float32).reshape(4, 6)), Tensor(np.ones((4, 6), np.float32)))

    return captured(program)


def cause(layers: str, changed: str, change: str = "") -> str:
    """The line of the cause."""
    return told(run(layers), run(changed, change)).splitlines()[1]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("one", "other", "says"),
    [
        ("dense norm drop relu", "dense drop norm relu", "moved: 1-LayerNorm/LayerNorm-op"),
        ("dense norm tanh", "dense tanh norm", "moved: "),
        ("dense norm drop relu dense", "dense norm relu dense", "removed: 2-Dropout/Dropout-op"),
        ("dense norm relu dense tanh", "dense norm tanh relu dense tanh", "inserted: 2-Tanh/Tanh-op"),
        ("dense sigmoid", "dense", "removed: 1-Sigmoid/Sigmoid-op"),
        ("dense sigmoid", "dense tanh", "replaced: 1: Sigmoid -> Tanh"),
    ],
)
def test_layers_in_a_row(one: str, other: str, says: str) -> None:
    line = cause(one, other)
    assert line.startswith("Cause, proven"), line
    assert says in line, line


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("norm last", "moved: norm-LayerNorm/LayerNorm-op"),
        ("shared", "which takes one.weight in place of two.weight"),
        ("transposed", "inserted: _backbone-Net/Transpose-op"),
        ("frozen", "one.weight is not trained; removed: Grad_MatMul/MatMul-op"),
        ("rates", "takes learning_rate_group_0 (0.025) in place of learning_rate (0.1) as input.2 (learning_rate)"),
    ],
)
def test_what_a_layer_takes_and_trains(change: str, says: str) -> None:
    line = cause("dense tanh", "dense tanh", change)
    assert line.startswith("Cause, proven"), line
    assert says in line, line


class Gate(nn.Cell):
    """Two branches, whose operators have one scope."""

    def __init__(self, change: str) -> None:
        super().__init__()
        self.one, self.two = nn.Dense(6, 6), nn.Dense(6, 6)
        self.change = change

    def construct(self, x: Tensor) -> Any:
        one, two = self.one(x), self.two(x)
        if self.change == "branches":
            one, two = two, one
        two = ops.relu(two) if self.change == "relu" else ops.tanh(two)
        return x + ops.tanh(ops.sigmoid(one) * two)


def gates(change: str) -> Capture:
    def program() -> None:
        first, second = Gate(change), Gate(change)
        network = nn.SequentialCell(*((second, first) if change == "exchanged" else (first, second)))
        for parameter in network.get_parameters():
            drawn = np.random.default_rng(list(parameter.name.encode()))
            parameter.set_data(Tensor(drawn.normal(size=parameter.shape).astype(np.float32)))
        given: Any = network.trainable_params()
        if change == "decay":
            biases = [each for each in given if "bias" in each.name]
            rest = [each for each in given if "bias" not in each.name]
            given = [{"params": biases, "weight_decay": 0.0}, {"params": rest}]
        optimizer: Any = nn.AdamWeightDecay(given, 0.1, weight_decay=0.1)
        if change == "optimizer":
            optimizer = nn.SGD(given, 0.1, weight_decay=0.1)
        step = nn.TrainOneStepCell(nn.WithLossCell(network, nn.MSELoss()), optimizer).set_train()
        step(Tensor(np.linspace(-1, 1, 24, dtype=np.float32).reshape(2, 2, 6)), Tensor(np.ones((2, 2, 6), np.float32)))

    return captured(program)


@pytest.fixture(scope="module")
def right() -> Capture:
    return gates("")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("change", "says"),
    [
        # a shared reshape has the cell of the first that takes it
        ("branches", "Sigmoid-op0 takes two-Dense/Reshape-op0 in place of one-Dense/Reshape-op1 as input.0"),
        # only the place in the order and one setting changed: the setting gives the values
        ("decay", "weight_decay 0.1 -> 0"),
        ("optimizer", "replaced: optimizer: AdamWeightDecay -> SGD"),
    ],
)
def test_branches_and_settings(right: Capture, change: str, says: str) -> None:
    line = told(right, gates(change)).splitlines()[1]
    assert line.startswith("Cause, proven"), line
    assert says in line, line


def test_values_of_another_operator_are_not_shown(right: Capture) -> None:
    """A replaced operator's name may be another operator's in the run: their values are not compared in the text."""
    text = told(right, gates("relu"))
    assert "replaced: " in text
    assert "Tanh-op0 by 0-Gate/ReLU-op0" in text
    assert ", found " not in text
