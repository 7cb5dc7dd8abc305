"""Networks drawn at random: families of small ones, with shapes, layers and settings from a seed.

A network is a description, so that a fault can change one setting of it and build it again.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from harness.framework import nn
from harness.framework.context import GRAPH_MODE, PYNATIVE_MODE, get_context, set_context
from harness.framework.tensor import Tensor
from harness.testing.faults.cells import (
    ACTIVATIONS,
    Attention,
    Convolutional,
    Half,
    Perceptron,
    Recurrent,
    Residual,
    Settings,
    Unet,
)

Array = np.ndarray[Any, np.dtype[Any]]
STEPS = 2
_DRAWN = [name for name in ACTIVATIONS if name != "none"]


@dataclass(frozen=True)
class Network:
    """A drawn network.

    Attributes:
        family: key of ``FAMILIES``.
        seed: seed of its weights and data.
        settings: arguments it is built with.
        weights: changes to filled parameters, by name.
        data: change to the batches.
        steps: how many steps it is trained.
        eager: whether it is trained in PyNative mode, so that gradients alone are graphs.
    """

    family: str
    seed: int
    settings: Settings
    weights: Mapping[str, Callable[[Array], Array]] = field(default_factory=dict)
    data: Callable[[list[Array]], list[Array]] | None = None
    steps: int = STEPS
    eager: bool = False

    def having(self, **settings: Any) -> Network:
        """The same network with other settings."""
        return replace(self, settings={**self.settings, **settings})

    def train(self) -> None:
        """Builds it and trains it ``steps`` steps in the session in force."""
        mode = get_context("mode")
        set_context(mode=PYNATIVE_MODE if self.eager else GRAPH_MODE)
        try:
            self._train()
        finally:
            set_context(mode=mode)

    def _train(self) -> None:
        s = self.settings
        model = FAMILIES[self.family].build(s)
        self._fill(model)
        step = nn.TrainOneStepCell(nn.WithLossCell(model, _loss(s)), _optimizer(s, model), sens=s["sens"])
        step.set_train()
        for index in range(self.steps):
            batch = [_values((self.seed, index, at), *spec) for at, spec in enumerate(FAMILIES[self.family].batch(s))]
            step(*(Tensor(array) for array in (self.data(batch) if self.data is not None else batch)))

    def _fill(self, model: Any) -> None:
        for name, parameter in model.parameters_and_names():
            values = filled(self.seed, name, tuple(parameter.shape))
            change = self.weights.get(name)
            if change is not None:
                values = change(values)
            parameter.set_data(Tensor(values.astype(np.float32), parameter.dtype))

    def parameters(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes of what is trained."""
        model = FAMILIES[self.family].build(self.settings)
        return {name: tuple(p.shape) for name, p in model.parameters_and_names() if p.requires_grad}


def filled(seed: int, name: str, shape: tuple[int, ...]) -> Array:
    """A parameter's first value: drawn from seed and name, so that it does not depend on other layers."""
    random = np.random.default_rng([seed, zlib.crc32(name.encode())])
    values = random.normal(size=shape)
    kind = name.rpartition(".")[2]
    if kind in ("gamma", "moving_variance"):
        return np.asarray(1 + np.abs(values) / 8)
    fan = math.prod(shape[1:]) if len(shape) > 1 else 16
    return np.asarray(values / math.sqrt(fan))


def _values(seed: tuple[int, ...], kind: str, shape: tuple[int, ...], top: int = 0) -> Array:
    random = np.random.default_rng(seed)
    if kind == "ids":
        return random.integers(0, top, shape).astype(np.int32)
    return random.normal(size=shape).astype(np.float32)


def _loss(s: Settings) -> Any:
    reduction = s["reduction"]
    kinds: Mapping[str, Callable[[], Any]] = {
        "mse": lambda: nn.MSELoss(reduction), "l1": lambda: nn.L1Loss(reduction),
        "smooth": lambda: nn.SmoothL1Loss(reduction=reduction), "cross": lambda: nn.CrossEntropyLoss(
            reduction=reduction, label_smoothing=s["label_smoothing"]),
        "sparse": lambda: nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction=reduction),
        "bce": lambda: nn.BCEWithLogitsLoss(reduction),
    }  # fmt: skip
    return kinds[s["loss"]]()


def _grouped(s: Settings, model: Any) -> Any:
    """What is trained: all but a frozen parameter; the last one in a group of its own where its rate is another."""
    for name, parameter in model.parameters_and_names():
        parameter.requires_grad = parameter.requires_grad and name != s["frozen"]
    given = model.trainable_params()
    if s["last_rate"] == 1.0:
        return given
    return [{"params": given[:-1]}, {"params": given[-1:], "lr": s["rate"] * s["last_rate"]}]


def _optimizer(s: Settings, model: Any) -> Any:
    rate, given = s["rate"], _grouped(s, model)
    kinds: Mapping[str, Callable[[], Any]] = {
        "momentum": lambda: nn.Momentum(given, rate, s["momentum"], use_nesterov=s["nesterov"]),
        "sgd": lambda: nn.SGD(given, rate, s["momentum"]),
        "adam": lambda: nn.Adam(given, rate, beta1=s["beta1"], beta2=s["beta2"], eps=s["eps"]),
        "adamw": lambda: nn.AdamWeightDecay(
            given, rate, beta1=s["beta1"], beta2=s["beta2"], eps=s["eps"], weight_decay=s["decay"]
        ),
    }
    return kinds[s["optimizer"]]()


@dataclass(frozen=True)
class Family:
    """A family of networks.

    Attributes:
        build: makes it from settings.
        draw: draws its own settings.
        batch: kind, shape and (of ids) limit of its data and its label.
    """

    build: Callable[[Settings], Any]
    draw: Callable[[np.random.Generator], dict[str, Any]]
    batch: Callable[[Settings], list[tuple[Any, ...]]]


def draw(seed: int) -> Network:
    """Draws the network of a seed."""
    random = np.random.default_rng(seed)
    family = list(FAMILIES)[int(random.integers(len(FAMILIES)))]
    return Network(family, seed, {**_common(random), **FAMILIES[family].draw(random)})


def _pick(random: np.random.Generator, *choices: Any) -> Any:
    return choices[int(random.integers(len(choices)))]


def _common(random: np.random.Generator) -> dict[str, Any]:
    return {
        "optimizer": _pick(random, "momentum", "sgd", "adam", "adamw"), "rate": _pick(random, 0.1, 0.05, 0.01),
        "momentum": _pick(random, 0.9, 0.8), "beta1": 0.9, "beta2": 0.999, "eps": _pick(random, 1e-8, 1e-6),
        "decay": _pick(random, 0.01, 0.1), "sens": 1.0, "label_smoothing": 0.0, "batch": int(random.integers(3, 7)),
        "reduction": _pick(random, "mean", "mean", "sum"), "act": _pick(random, *_DRAWN), "bias": True,
        "classes": int(random.integers(2, 6)), "extra": "", "width": int(random.integers(3, 7)) * 2,
        "inputs": int(random.integers(5, 10)), "depth": int(random.integers(1, 4)), "norm": bool(random.integers(2)),
        "norm_first": True, "bn_eps": _pick(random, 1e-5, 1e-4), "channels": int(random.integers(3, 6)), "skip": True,
        "kernel": 3, "pad_mode": "same", "conv_bias": bool(random.integers(2)), "pool": _pick(random, "max", "avg"),
        "size": _pick(random, 6, 8), "drop": 0.0, "nesterov": False, "frozen": "", "last_rate": 1.0, "end": "",
        "pooled": "mean", "order": ("norm", "act", "drop"), "tied": False, "post": False, "mask_from": 1,
    }  # fmt: skip


def _classified(_random: np.random.Generator) -> dict[str, Any]:
    return {"loss": _pick(_random, "cross", "sparse")}


def _regressed(random: np.random.Generator) -> dict[str, Any]:
    return {"loss": _pick(random, "mse", "l1", "smooth", "bce")}


def _picture(s: Settings) -> list[tuple[Any, ...]]:
    return [("real", (s["batch"], 3, s["size"], s["size"])), ("ids", (s["batch"],), s["classes"])]


def _segmented(s: Settings) -> list[tuple[Any, ...]]:
    return [_picture(s)[0], ("real", (s["batch"], s["classes"], s["size"], s["size"]))]


def _row(s: Settings) -> list[tuple[Any, ...]]:
    return [("real", (s["batch"], s["inputs"])), ("real", (s["batch"], s["classes"]))]


def _attention(random: np.random.Generator) -> dict[str, Any]:
    heads, width = 2, int(random.integers(2, 5)) * 2
    return {
        "heads": heads, "width": width, "scale": float((width // heads) ** -0.5), "axis": -1, "vocabulary": 11,
        "length": int(random.integers(4, 7)), "ln_eps": _pick(random, 1e-5, 1e-7), "approximate": True, "mean_axis": 1,
        "masked": bool(random.integers(2)), **_classified(random), "tied": _pick(random, False, False, True),
    }  # fmt: skip


FAMILIES: dict[str, Family] = {
    "cnn": Family(Convolutional, _classified, _picture),
    "residual": Family(Residual, lambda r: {"norm": True, **_classified(r)}, _picture),
    "mlp": Family(
        Perceptron, lambda r: {"drop": _pick(r, 0.0, 0.2, 0.5), **_regressed(r), "tied": _pick(r, False, True)}, _row
    ),
    "attention": Family(
        Attention, _attention,
        lambda s: [("ids", (s["batch"], s["length"]), s["vocabulary"]), ("ids", (s["batch"],), s["classes"])],
    ),
    "lstm": Family(
        Recurrent, lambda r: {"at": -1, "length": int(r.integers(3, 6)), **_regressed(r)},
        lambda s: [("real", (s["batch"], s["length"], s["inputs"])), ("real", (s["batch"], s["classes"]))],
    ),
    "unet": Family(Unet, lambda r: {"swapped": False, **_regressed(r)}, _segmented),
    "half": Family(Half, lambda r: {"half": True, "act": _pick(r, "relu", "tanh", "gelu"), **_regressed(r)}, _row),
}  # fmt: skip
