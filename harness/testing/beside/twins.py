"""Draws a network and trains it in both frameworks, with equal weights and batches."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from harness.backends import BACKENDS
from harness.capture import Capture
from harness.capture.torch import TorchCapture
from harness.framework import nn
from harness.framework.context import GRAPH_MODE, get_context, set_context
from harness.framework.tensor import Tensor
from harness.testing.beside import cells, modules

Array = np.ndarray[Any, np.dtype[Any]]
#: receives PyTorch's network, its loss and its optimizer before they train
Change = Callable[[Any, Any, Any], None]
STEPS = 2
#: what PyTorch calls parameters, by what MindSpore calls them
_USES = {
    "gamma": "weight", "beta": "bias", "moving_mean": "running_mean", "moving_variance": "running_var",
    "embedding_table": "weight",
}  # fmt: skip


@dataclass(frozen=True)
class Twin:
    """A network in both frameworks.

    Attributes:
        family: key of ``cells.BUILD``.
        seed: seed of its weights and data.
        settings: arguments it is built with.
    """

    family: str
    seed: int
    settings: Mapping[str, Any]

    def having(self, **settings: Any) -> Twin:
        """The same network with other settings."""
        return replace(self, settings={**self.settings, **settings})

    def ours(self) -> Capture:
        """Captures two steps on the emulated CPU."""
        weights = self.weights()

        def program() -> None:
            mode = get_context("mode")
            set_context(mode=GRAPH_MODE)
            try:
                self._train_ours(weights)
            finally:
                set_context(mode=mode)

        return BACKENDS.get("cpu").run(program, network=f"{self.family}-{self.seed}")

    def _train_ours(self, weights: Mapping[str, Array]) -> None:
        s = self.settings
        network: Any = cells.BUILD[self.family](s)
        for parameter in network.get_parameters():
            stem, _, last = parameter.name.rpartition(".")
            parameter.set_data(Tensor(weights[f"{stem}.{_USES.get(last, last)}"].copy()))
        loss = cells.WithLoss(network, cells.LOSSES[s["loss"]](s["reduction"]))
        step = nn.TrainOneStepCell(loss, cells.optimizer(s, network.trainable_params()))
        step.set_train()
        for batch in self.batches():
            step(*(Tensor(each.astype(np.int32) if each.dtype == np.int64 else each) for each in batch))

    def theirs(self, change: Change | None = None, batches: list[list[Array]] | None = None) -> Capture:
        """Captures two steps in PyTorch.

        Args:
            change: receives network, loss and optimizer before they train.
            batches: batches to use instead of its own.
        """
        s = self.settings
        network = modules.BUILD[self.family](s)
        network.load_state_dict({name: torch.from_numpy(each.copy()) for name, each in self.weights().items()})
        loss = modules.LOSSES[s["loss"]](s["reduction"])
        optimizer = modules.optimizer(s, network.parameters())
        if change is not None:
            change(network, loss, optimizer)
        watch = TorchCapture(network, network=f"{self.family}-{self.seed}")
        for *inputs, label in self.batches() if batches is None else batches:
            with watch.step():
                optimizer.zero_grad()
                loss(network(*map(torch.from_numpy, inputs)), torch.from_numpy(label)).backward()
                optimizer.step()
        return watch.capture()

    def weights(self) -> dict[str, Array]:
        """First values of parameters and buffers by PyTorch's names, drawn from seed and name."""
        state = modules.BUILD[self.family](self.settings).state_dict()
        return {name: _filled(self.seed, name, each.numpy()) for name, each in state.items()}

    def batches(self) -> list[list[Array]]:
        """The inputs and the label of each step."""
        return [self._batch(np.random.default_rng([self.seed, index])) for index in range(STEPS)]

    def _batch(self, random: np.random.Generator) -> list[Array]:
        s = self.settings
        count, length = s["batch"], s.get("length", 1)
        if self.family == "gpt":
            seen = np.tril(np.ones((length, length), np.float32))
            return [random.integers(0, s["vocabulary"], (count, length)), seen, self._label(random, count * length)]
        shapes = {"mlp": (count, s["inputs"]), "resnet": (count, 3, s["size"], s["size"]),
                  "lstm": (count, length, s["inputs"]), "vae": (count, s["inputs"])}  # fmt: skip
        x = random.normal(size=shapes[self.family]).astype(np.float32)
        if self.family == "vae":
            return [x, random.normal(size=(count, s["latent"])).astype(np.float32), random.random(x.shape, np.float32)]
        return [x, self._label(random, count)]

    def _label(self, random: np.random.Generator, count: int) -> Array:
        classes = self.settings["classes"]
        if self.settings["loss"] == "cross":
            return np.asarray(random.integers(0, classes, count))
        return random.random((count, classes), np.float32)


def _filled(seed: int, name: str, like: Array) -> Array:
    """A parameter's first value; running statistics and counts keep their own."""
    if not name.rpartition(".")[2].startswith(("weight", "bias")):
        return like.copy()
    values = np.random.default_rng([seed, zlib.crc32(name.encode())]).normal(size=like.shape)
    if "norm" in name or ".bn" in name:
        return np.asarray(values / 8 + name.endswith("weight"), np.float32)
    fan = math.prod(like.shape[1:]) if like.ndim > 1 else 16
    return np.asarray(values / math.sqrt(fan)).astype(np.float32)


def draw(seed: int, family: str | None = None) -> Twin:
    """Draws the network of a seed.

    Args:
        family: key of ``cells.BUILD``; drawn if not given.
    """
    random = np.random.default_rng(seed)
    families = list(cells.BUILD)
    drawn = families[int(random.integers(len(families)))]
    return _drawn(random, seed, family or drawn)


def _drawn(random: np.random.Generator, seed: int, family: str) -> Twin:
    def pick(*choices: Any) -> Any:
        return choices[int(random.integers(len(choices)))]

    def whole(low: int, high: int) -> int:
        return int(random.integers(low, high + 1))

    heads = pick(1, 2)
    width = whole(2, 5) * 2 * heads
    settings = {
        "width": width, "heads": heads, "scale": (width // heads) ** -0.5, "depth": whole(1, 3), "inputs": whole(4, 9),
        "classes": whole(2, 5), "batch": whole(3, 6), "act": pick(*cells.ACTIVATIONS), "bias": pick(True, True, False),
        "norm": pick("none", "batch", "layer"), "eps": pick(1e-5, 1e-6), "channels": whole(3, 6), "size": pick(6, 8),
        "pool": pick("max", "avg"), "length": whole(3, 6), "vocabulary": 11, "layers": whole(1, 2),
        "latent": whole(2, 4),
        "bidirectional": pick(False, False, True), "optimizer": pick("sgd", "momentum", "adam"),
        "rate": pick(0.1, 0.05, 0.01), "momentum": pick(0.9, 0.8), "betas": (0.9, 0.999), "adam_eps": pick(1e-8, 1e-6),
        "reduction": pick("mean", "mean", "sum"), "loss": pick("mse", "l1", "smooth", "cross", "cross", "bce"),
    }  # fmt: skip
    if family in ("resnet", "gpt"):
        settings["loss"] = "cross"
    if family == "vae":
        settings["loss"] = pick("mse", "smooth", "l1")
    return Twin(family, seed, settings)
