"""Networks drawn at random: families of small ones, with shapes, layers and settings from a seed.

A network is a description, so that a fault can change one setting of it and build it again.
"""

from __future__ import annotations

import itertools
import math
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from harness import dtypes
from harness.framework import nn
from harness.framework import ops as functions
from harness.framework.context import GRAPH_MODE, get_context, set_context
from harness.framework.tensor import Tensor

Array = np.ndarray[Any, np.dtype[Any]]
Settings = Mapping[str, Any]
ops: Any = functions  # its names are looked up on request
ACTIVATIONS: Mapping[str, Callable[[], Any]] = {
    "relu": nn.ReLU, "tanh": nn.Tanh, "sigmoid": nn.Sigmoid, "gelu": nn.GELU, "leaky": nn.LeakyReLU, "elu": nn.ELU,
}  # fmt: skip
STEPS = 2


@dataclass(frozen=True)
class Network:
    """A drawn network.

    Attributes:
        family: key of ``FAMILIES``.
        seed: seed of its weights and data.
        settings: arguments it is built with.
        weights: changes to filled parameters, by name.
        data: change to the batches.
    """

    family: str
    seed: int
    settings: Settings
    weights: Mapping[str, Callable[[Array], Array]] = field(default_factory=dict)
    data: Callable[[list[Array]], list[Array]] | None = None

    def having(self, **settings: Any) -> Network:
        """The same network with other settings."""
        return replace(self, settings={**self.settings, **settings})

    def train(self) -> None:
        """Builds it and trains it ``STEPS`` steps in the session in force, as a graph."""
        mode = get_context("mode")
        set_context(mode=GRAPH_MODE)
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
        for index in range(STEPS):
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


def _optimizer(s: Settings, model: Any) -> Any:
    given, rate = model.trainable_params(), s["rate"]
    kinds: Mapping[str, Callable[[], Any]] = {
        "momentum": lambda: nn.Momentum(given, rate, s["momentum"]),
        "sgd": lambda: nn.SGD(given, rate, s["momentum"]),
        "adam": lambda: nn.Adam(given, rate, beta1=s["beta1"], beta2=s["beta2"], eps=s["eps"]),
        "adamw": lambda: nn.AdamWeightDecay(
            given, rate, beta1=s["beta1"], beta2=s["beta2"], eps=s["eps"], weight_decay=s["decay"]
        ),
    }
    return kinds[s["optimizer"]]()


class _Block(nn.Cell):
    """A convolution, a normalisation and an activation, in that order or the other; perhaps something more."""

    def __init__(self, s: Settings, channels: tuple[int, int], stride: int = 1) -> None:
        super().__init__()
        self.conv: Any = nn.Conv2d(*channels, s["kernel"], stride, s["pad_mode"], has_bias=s["conv_bias"])
        self.bn: Any = nn.BatchNorm2d(channels[1], eps=s["bn_eps"]) if s["norm"] else None
        self.act: Any = ACTIVATIONS[s["act"]]()
        self.norm_first = s["norm_first"]
        self.extra = s["extra"]

    def construct(self, x: Any) -> Any:
        x = self.conv(x)
        if self.norm_first and self.bn is not None:
            x = self.bn(x)
        if self.extra == "clip":
            x = ops.clamp(x, -0.5, 0.5)
        elif self.extra == "scale":
            x = x * 0.5
        x = self.act(x)
        if not self.norm_first and self.bn is not None:
            x = self.bn(x)
        return x


class Convolutional(nn.Cell):
    """Two blocks with a pooling between, and a dense layer."""

    def __init__(self, s: Settings) -> None:
        super().__init__()
        c = s["channels"]
        self.one, self.two = _Block(s, (3, c)), _Block(s, (c, c + 2))
        pools = {"max": nn.MaxPool2d, "avg": nn.AvgPool2d}
        self.pool: Any = pools[s["pool"]](2, 2)
        self.flatten: Any = nn.Flatten()
        self.fc: Any = nn.Dense((c + 2) * (s["size"] // 2) ** 2, s["classes"], has_bias=s["bias"])

    def construct(self, x: Any) -> Any:
        return self.fc(self.flatten(self.two(self.pool(self.one(x)))))


class Residual(nn.Cell):
    """Blocks that are added to what they were given, and a mean over the picture."""

    def __init__(self, s: Settings) -> None:
        super().__init__()
        c = s["channels"]
        self.first: Any = _Block(s, (3, c))
        self.blocks: Any = nn.CellList([_Block(s, (c, c)) for _ in range(s["depth"])])
        self.fc: Any = nn.Dense(c, s["classes"], has_bias=s["bias"])
        self.skip = s["skip"]

    def construct(self, x: Any) -> Any:
        x = self.first(x)
        for block in self.blocks:
            x = x + block(x) if self.skip else block(x)
        return self.fc(ops.mean(x, (2, 3)))


class Perceptron(nn.Cell):
    """Dense layers with normalisation, activation and dropout."""

    def __init__(self, s: Settings) -> None:
        super().__init__()
        widths = [s["inputs"], *[s["width"]] * s["depth"]]
        self.layers: Any = nn.CellList([nn.Dense(a, b, has_bias=s["bias"]) for a, b in itertools.pairwise(widths)])
        self.norms: Any = nn.CellList([nn.BatchNorm1d(b, eps=s["bn_eps"]) for b in widths[1:]]) if s["norm"] else None
        self.act: Any = ACTIVATIONS[s["act"]]()
        self.dropout: Any = nn.Dropout(p=s["drop"]) if s["drop"] else None
        self.out: Any = nn.Dense(s["width"], s["classes"])
        self.extra = s["extra"]

    def construct(self, x: Any) -> Any:
        for at, layer in enumerate(self.layers):
            x = layer(x)
            if self.norms is not None:
                x = self.norms[at](x)
            if self.extra == "scale" and at == 0:
                x = x * 0.5
            if self.extra == "clip" and at == 0:
                x = ops.clamp(x, -0.5, 0.5)
            x = self.act(x)
            if self.dropout is not None:
                x = self.dropout(x)
        return self.out(x)


class Attention(nn.Cell):
    """Embedding, self-attention with a residual path, a feed-forward layer."""

    def __init__(self, s: Settings) -> None:
        super().__init__()
        size = s["width"]
        self.heads, self.scale, self.axis = s["heads"], s["scale"], s["axis"]
        self.embedding: Any = nn.Embedding(s["vocabulary"], size)
        self.norm1: Any = nn.LayerNorm((size,), epsilon=s["ln_eps"])
        self.norm2: Any = nn.LayerNorm((size,), epsilon=s["ln_eps"])
        self.query, self.value = nn.Dense(size, size), nn.Dense(size, size)
        self.key = nn.Dense(size, size, has_bias=False)
        self.out: Any = nn.Dense(size, size, has_bias=s["bias"])
        self.up, self.down = nn.Dense(size, 2 * size), nn.Dense(2 * size, size)
        self.act: Any = nn.GELU(approximate=s["approximate"]) if s["act"] == "gelu" else ACTIVATIONS[s["act"]]()
        self.head: Any = nn.Dense(size, s["classes"])
        self.masked, self.skip, self.mean_axis = s["masked"], s["skip"], s["mean_axis"]

    def split(self, x: Any) -> Any:
        """(batch, length, size) to (batch, heads, length, size of a head)."""
        batch, length, size = x.shape
        return x.reshape((batch, length, self.heads, size // self.heads)).transpose((0, 2, 1, 3))

    def construct(self, ids: Any) -> Any:
        x = self.embedding(ids)
        y = self.norm1(x)
        q, k, v = self.split(self.query(y)), self.split(self.key(y)), self.split(self.value(y))
        scores = ops.matmul(q, k.transpose((0, 1, 3, 2))) * self.scale
        if self.masked:
            length = x.shape[1]
            scores = scores + Tensor(np.triu(np.full((length, length), -1e4, np.float32), 1))
        mixed = ops.matmul(ops.softmax(scores, self.axis), v).transpose((0, 2, 1, 3)).reshape(x.shape)
        mixed = self.out(mixed)
        x = x + mixed if self.skip else mixed
        x = x + self.down(self.act(self.up(self.norm2(x))))
        return self.head(ops.mean(x, self.mean_axis))


class Recurrent(nn.Cell):
    """An LSTM, of whose steps the last is taken."""

    def __init__(self, s: Settings) -> None:
        super().__init__()
        self.lstm: Any = nn.LSTM(s["inputs"], s["width"], batch_first=True)
        self.fc: Any = nn.Dense(s["width"], s["classes"], has_bias=s["bias"])
        self.at = s["at"]
        self.act: Any = ACTIVATIONS[s["act"]]()

    def construct(self, x: Any) -> Any:
        steps, _ = self.lstm(x)
        return self.fc(self.act(steps[:, self.at]))


class Unet(nn.Cell):
    """Down, up by repetition, joined with what was before."""

    def __init__(self, s: Settings) -> None:
        super().__init__()
        c = s["channels"]
        self.down, self.mid, self.up = _Block(s, (3, c)), _Block(s, (c, c)), _Block(s, (2 * c, c))
        self.pool: Any = {"max": nn.MaxPool2d, "avg": nn.AvgPool2d}[s["pool"]](2, 2)
        self.head: Any = nn.Conv2d(c, s["classes"], 1, has_bias=s["bias"])
        self.swapped = s["swapped"]

    def construct(self, x: Any) -> Any:
        wide = self.down(x)
        deep = self.mid(self.pool(wide))
        n, c, h, w = deep.shape
        deep = ops.tile(deep.reshape((n, c, h, 1, w, 1)), (1, 1, 1, 2, 1, 2)).reshape((n, c, 2 * h, 2 * w))
        joined = ops.cat((deep, wide) if self.swapped else (wide, deep), 1)
        return self.head(self.up(joined))


class Half(nn.Cell):
    """Dense layers in float16, one in float32."""

    def __init__(self, s: Settings) -> None:
        super().__init__()
        self.fc1: Any = nn.Dense(s["inputs"], s["width"])
        self.fc2: Any = nn.Dense(s["width"], s["width"], has_bias=s["bias"])
        if s["half"]:
            self.fc1.to_float(dtypes.float16)
            self.fc2.to_float(dtypes.float16)
        self.act: Any = ACTIVATIONS[s["act"]]()
        self.fc3: Any = nn.Dense(s["width"], s["classes"])

    def construct(self, x: Any) -> Any:
        return self.fc3(ops.cast(self.fc2(self.act(self.fc1(x))), dtypes.float32))


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
        "reduction": _pick(random, "mean", "mean", "sum"), "act": _pick(random, *ACTIVATIONS), "bias": True,
        "classes": int(random.integers(2, 6)), "extra": "", "width": int(random.integers(3, 7)) * 2,
        "inputs": int(random.integers(5, 10)), "depth": int(random.integers(1, 4)), "norm": bool(random.integers(2)),
        "norm_first": True, "bn_eps": _pick(random, 1e-5, 1e-4), "channels": int(random.integers(3, 6)), "skip": True,
        "kernel": 3, "pad_mode": "same", "conv_bias": bool(random.integers(2)), "pool": _pick(random, "max", "avg"),
        "size": _pick(random, 6, 8), "drop": 0.0,
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
        "masked": bool(random.integers(2)), **_classified(random),
    }  # fmt: skip


FAMILIES: dict[str, Family] = {
    "cnn": Family(Convolutional, _classified, _picture),
    "residual": Family(Residual, lambda r: {"norm": True, **_classified(r)}, _picture),
    "mlp": Family(Perceptron, lambda r: {"drop": _pick(r, 0.0, 0.2, 0.5), **_regressed(r)}, _row),
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
