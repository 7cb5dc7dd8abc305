"""Drawn trainings: what is built, what it is given, how it is trained."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any
from zlib import crc32

import numpy as np

from harness.backends import get
from harness.capture import Capture
from harness.errors import HarnessError
from harness.framework import nn
from harness.framework.context import GRAPH_MODE, get_context, set_context
from harness.framework.seed import set_seed
from harness.framework.tensor import Tensor
from harness.testing.sick.cells import Attention, Do, Recurrent, Residual, Tied, Words, sequence

Array = np.ndarray[Any, np.dtype[Any]]
FAMILIES = ("mlp", "conv", "recurrent", "attention", "words", "tied", "residual")
ACTIVATIONS = ("relu", "tanh", "sigmoid", "gelu", "elu", "leakyrelu")
_WORDS, _PLACES = 20, 5


@dataclass(frozen=True)
class Plan:
    """A training.

    Attributes:
        family: one of ``FAMILIES``.
        seed: of weights and data.
        depth, width: number of hidden layers (of ``mlp`` and ``residual``), and their width.
        activation: of hidden layers.
        norm: ``""``, ``batch`` or ``layer``.
        classes, features, batch, steps: sizes.
        optimizer, rate: how it is trained.
        sens: factor on the gradient (loss scale).
        insert: a cell put after hidden layer ``at``.
        at: number of a hidden layer.
        weights: changes a parameter after initialisation, given its name and values; None leaves it.
        data: changes features and labels of a step, given its number.
        left_out: names of parameters that the optimizer does not get.
        axis, mask, linear, drop: see the cells.
        end: a cell after the last layer.
        evaluate: only predict, with the network set to training.
        dense: give targets as rows of zeros and a one.
        engine: ``emulator``, or ``torch`` for PyTorch.
    """

    family: str
    seed: int
    depth: int = 2
    width: int = 12
    activation: str = "relu"
    norm: str = ""
    classes: int = 4
    features: int = 8
    batch: int = 24
    steps: int = 12
    optimizer: str = "adam"
    rate: float = 0.01
    sens: float = 1.0
    insert: Do | None = None
    at: int = 0
    weights: Callable[[str, Array], Array | None] | None = field(default=None, repr=False)
    data: Callable[[int, Array, Array], tuple[Array, Array]] | None = field(default=None, repr=False)
    left_out: tuple[str, ...] = ()
    axis: int = -1
    mask: float | None = None
    linear: bool = False
    drop: float = 0.0
    end: Do | None = None
    evaluate: bool = False
    dense: bool = False
    engine: str = "emulator"

    def having(self, **changes: Any) -> Plan:
        """The same with changes."""
        return replace(self, **changes)

    # -- the network

    def hidden(self) -> list[Any]:
        """The cells before the last layer."""
        family, width = self.family, self.width
        if family == "conv":
            return [
                nn.Conv2d(2, width, 3), *self._norm(width, True), nn.get_activation(self.activation),
                nn.Conv2d(width, width, 3), *self._norm(width, True), nn.get_activation(self.activation), nn.Flatten(),
            ]  # fmt: skip
        if family == "recurrent":
            return [Recurrent(self.features, width, _PLACES, None if self.linear else "tanh")]
        if family == "attention":
            return [Attention(self.features, width, self.axis, self.mask, _PLACES)]
        if family == "words":
            return [Words(_WORDS, width), *self._block(width)]
        if family == "residual":
            return [nn.Dense(self.features, width), *(Residual(width) for _ in range(self.depth))]
        return [cell for at in range(self.depth) for cell in self._block(self.features if at == 0 else width, at)]

    def _norm(self, width: int, images: bool = False) -> list[Any]:
        if self.norm == "batch":
            return [nn.BatchNorm2d(width) if images else nn.BatchNorm1d(width)]
        return [nn.LayerNorm((width,))] if self.norm == "layer" and not images else []

    def _block(self, inputs: int, at: int = 0) -> list[Any]:
        cells = [nn.Dense(inputs, self.width), *self._norm(self.width)]
        if not self.linear:
            cells.append(nn.get_activation(self.activation))
        if self.drop:
            cells.append(nn.Dropout(p=self.drop))
        if self.insert is not None and at == self.at:
            cells.append(self.insert)
        return cells

    def build(self) -> Any:
        """The network."""
        if self.family == "tied":
            return sequence([Tied(_WORDS, self.width), *([self.end] if self.end else [])])
        cells = self.hidden()
        inserted = self.family in ("mlp", "words")
        if self.insert is not None and not inserted:
            cells.append(self.insert)
        inputs = self.width * 36 if self.family == "conv" else self.width
        return sequence([*cells, nn.Dense(inputs, self.classes), *([self.end] if self.end else [])])

    # -- the data

    @property
    def targets(self) -> int:
        """Number of classes."""
        return _WORDS if self.family == "tied" else self.classes

    def batches(self) -> list[tuple[Array, Array]]:
        """Features and labels of every step; labels follow from features by a drawn rule."""
        rng = np.random.default_rng((self.seed, 7))
        shape: tuple[int, ...] = (self.features,)
        if self.family == "conv":
            shape = (2, 6, 6)
        elif self.family in ("recurrent", "attention"):
            shape = (_PLACES, self.features)
        found = []
        teacher = rng.normal(size=(int(np.prod(shape)), self.classes))
        meaning = rng.integers(0, self.classes, _WORDS)
        for step in range(self.steps):
            if self.family in ("words", "tied"):
                main = rng.integers(0, _WORDS, self.batch)
                x = np.where(rng.random((self.batch, _PLACES)) < 0.7, main[:, None], 0).astype(np.int32)
                x[:, 0] = main
                y = main if self.family == "tied" else meaning[main]
            else:
                x = rng.normal(size=(self.batch, *shape)).astype(np.float32)
                y = (x.reshape(self.batch, -1) @ teacher).argmax(1)
            y = y.astype(np.int32)
            x, y = self.data(step, x, y) if self.data is not None else (x, y)
            found.append((x, _one_hot(y, self.targets) if self.dense else y))
        return found

    # -- the training

    def train(self) -> None:
        """Builds it and trains it in the session in force, as a graph."""
        mode = get_context("mode")
        set_context(mode=GRAPH_MODE)
        try:
            set_seed(self.seed % 2**31)
            self._train()
        finally:
            set_context(mode=mode)

    def _train(self) -> None:
        network = self.build()
        self._fill(network)
        loss = nn.SoftmaxCrossEntropyWithLogits(sparse=not self.dense, reduction="mean")
        given = [each for each in network.trainable_params() if each.name not in self.left_out]
        makers = {"adam": nn.Adam, "sgd": nn.SGD, "momentum": nn.Momentum, "rmsprop": nn.RMSProp}
        more = {"momentum": 0.9} if self.optimizer == "momentum" else {}
        optimizer = makers[self.optimizer](given, self.rate, **more)
        if self.evaluate:
            network.set_train(True)
            for x, _ in self.batches():
                network(Tensor(x))
            return
        step = nn.TrainOneStepCell(nn.WithLossCell(network, loss), optimizer, sens=self.sens)
        step.set_train()
        for x, y in self.batches():
            step(Tensor(x), Tensor(y))

    def first_values(self, name: str, shape: tuple[int, ...]) -> Array | None:
        """What a weight of two axes or more starts with (float64); None for other parameters."""
        if len(shape) < 2:
            return None
        rng = np.random.default_rng((self.seed, 3, crc32(name.encode())))
        if ".table." in name:
            return rng.normal(0, 0.5, shape)
        gain = 2.0 if self.activation in ("relu", "gelu", "elu", "leakyrelu") else 1.0
        return rng.normal(0, (gain / np.prod(shape[1:])) ** 0.5, shape)

    def _fill(self, network: Any) -> None:
        for parameter in network.get_parameters():
            name = parameter.name
            values = self.first_values(name, parameter.shape)
            if values is None:
                values = parameter.asnumpy().copy()
            changed = self.weights(name, values) if self.weights is not None else None
            values = values if changed is None else changed
            parameter.set_data(Tensor(np.ascontiguousarray(values, dtype=np.float32)))

    def capture(self) -> Capture:
        """Runs it on the emulated CPU or in PyTorch, everything captured; a run that fails is kept up to its
        failure."""
        if self.engine == "torch":
            from harness.testing.sick import torch_training

            return torch_training.capture(self, _WORDS)
        with get("cpu").open(network=f"{self.family}{self.seed}") as process:
            with suppress(HarnessError, ValueError, RuntimeError, IndexError):  # what ran before a failure is there
                process.execute(self.train)
            return process.capture()


def _one_hot(labels: Array, classes: int) -> Array:
    """Rows with a 1 at the label; a label outside of the classes leaves zeros."""
    return np.asarray(labels[:, None] == np.arange(classes), np.float32)


def draw(rng: np.random.Generator, family: str = "", engine: str = "emulator") -> Plan:
    """A healthy training.

    Args:
        rng: draws everything.
        family: one of ``FAMILIES``; drawn if empty.
        engine: see ``Plan``.
    """
    family = family or str(rng.choice(FAMILIES))
    activation = str(rng.choice(ACTIVATIONS))
    optimizer = str(rng.choice(["adam", "sgd", "momentum", "rmsprop"]))
    rate = {"adam": 0.01, "sgd": 0.1, "momentum": 0.03, "rmsprop": 0.005}[optimizer] * float(rng.uniform(0.5, 1.5))
    return Plan(
        family, int(rng.integers(1 << 30)), depth=int(rng.integers(1, 4)), width=int(rng.integers(8, 24)),
        activation=activation, norm=str(rng.choice(["", "", "batch", "layer"])), classes=int(rng.integers(2, 6)),
        features=int(rng.integers(4, 12)), batch=int(rng.integers(16, 40)), optimizer=optimizer, rate=rate,
        mask=-1e9 if rng.random() < 0.5 else None, drop=float(rng.choice([0, 0, 0.2])),
        engine=engine,
    )  # fmt: skip
