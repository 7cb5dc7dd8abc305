"""The cells of the families of networks, built from settings."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from harness import dtypes
from harness.framework import nn
from harness.framework import ops as functions
from harness.framework.tensor import Tensor

Settings = Mapping[str, Any]
ops: Any = functions  # its names are looked up on request
ACTIVATIONS: Mapping[str, Callable[[], Any]] = {
    "relu": nn.ReLU, "tanh": nn.Tanh, "sigmoid": nn.Sigmoid, "gelu": nn.GELU, "leaky": nn.LeakyReLU, "elu": nn.ELU,
    "none": nn.Identity,
}  # fmt: skip


def altered(x: Any, extra: str) -> Any:
    """What stands behind a layer where a fault put something there."""
    if extra == "clip":
        return ops.clamp(x, -0.5, 0.5)
    if extra == "scale":
        return x * 0.5
    return ops.stop_gradient(x) if extra == "detach" else x


def ended(x: Any, end: str) -> Any:
    """The network's result, by probabilities where a fault says so."""
    return ops.softmax(x, 1) if end == "softmax" else x


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
        x = self.act(altered(x, self.extra))
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
        self.end = s["end"]

    def construct(self, x: Any) -> Any:
        return ended(self.fc(self.flatten(self.two(self.pool(self.one(x))))), self.end)


class Residual(nn.Cell):
    """Blocks that are added to what they were given, and a mean over the picture."""

    def __init__(self, s: Settings) -> None:
        super().__init__()
        c = s["channels"]
        self.first: Any = _Block(s, (3, c))
        self.blocks: Any = nn.CellList([_Block(s, (c, c)) for _ in range(s["depth"])])
        self.fc: Any = nn.Dense(c, s["classes"], has_bias=s["bias"])
        self.skip, self.end, self.pooled = s["skip"], s["end"], s["pooled"]

    def construct(self, x: Any) -> Any:
        x = self.first(x)
        for block in self.blocks:
            x = x + block(x) if self.skip else block(x)
        x = ops.mean(x, (2, 3)) if self.pooled == "mean" else ops.amax(x, (2, 3))
        return ended(self.fc(x), self.end)


class Perceptron(nn.Cell):
    """Dense layers with normalisation, activation and dropout, in an order of their own."""

    def __init__(self, s: Settings) -> None:
        super().__init__()
        widths = [s["inputs"], *[s["width"]] * s["depth"]]
        layers = [nn.Dense(a, b, has_bias=s["bias"]) for a, b in itertools.pairwise(widths)]
        self.layers: Any = nn.CellList(layers[:2] if s["tied"] else layers)
        self.depth = s["depth"]
        self.norms: Any = nn.CellList([nn.BatchNorm1d(b, eps=s["bn_eps"]) for b in widths[1:]]) if s["norm"] else None
        self.act: Any = ACTIVATIONS[s["act"]]()
        self.dropout: Any = nn.Dropout(p=s["drop"]) if s["drop"] else None
        self.out: Any = nn.Dense(s["width"], s["classes"])
        self.extra, self.order = s["extra"], s["order"]

    def construct(self, x: Any) -> Any:
        for at in range(self.depth):
            # Tied layers are one layer, used again.
            x = self.layers[min(at, len(self.layers) - 1)](x)
            for step in self.order:
                x = self.step(step, x, at)
        return self.out(x)

    def step(self, name: str, x: Any, at: int) -> Any:
        """One of the steps behind a layer."""
        if name == "norm":
            return altered(x if self.norms is None else self.norms[at](x), "" if at else self.extra)
        if name == "drop":
            return x if self.dropout is None else self.dropout(x)
        return self.act(x)


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
        self.masked, self.skip, self.mean_axis, self.mask_from = s["masked"], s["skip"], s["mean_axis"], s["mask_from"]
        self.extra, self.post, self.tied, self.end = s["extra"], s["post"], s["tied"], s["end"]

    def split(self, x: Any) -> Any:
        """(batch, length, size) to (batch, heads, length, size of a head)."""
        batch, length, size = x.shape
        return x.reshape((batch, length, self.heads, size // self.heads)).transpose((0, 2, 1, 3))

    def construct(self, ids: Any) -> Any:
        x = self.embedding(ids)
        y = x if self.post else self.norm1(x)
        value = self.query if self.tied else self.value
        q, k, v = self.split(self.query(y)), self.split(self.key(y)), self.split(value(y))
        scores = ops.matmul(q, k.transpose((0, 1, 3, 2))) * self.scale
        if self.masked:
            length = x.shape[1]
            scores = scores + Tensor(np.triu(np.full((length, length), -1e4, np.float32), self.mask_from))
        mixed = ops.matmul(ops.softmax(scores, self.axis), v).transpose((0, 2, 1, 3)).reshape(x.shape)
        mixed = altered(self.out(mixed), self.extra)
        x = x + mixed if self.skip else mixed
        x = self.norm1(x) if self.post else x
        x = x + self.down(self.act(self.up(self.norm2(x))))
        return ended(self.head(ops.mean(x, self.mean_axis)), self.end)


class Recurrent(nn.Cell):
    """An LSTM, of whose steps the last is taken."""

    def __init__(self, s: Settings) -> None:
        super().__init__()
        self.lstm: Any = nn.LSTM(s["inputs"], s["width"], batch_first=True)
        self.fc: Any = nn.Dense(s["width"], s["classes"], has_bias=s["bias"])
        self.at, self.extra = s["at"], s["extra"]
        self.act: Any = ACTIVATIONS[s["act"]]()

    def construct(self, x: Any) -> Any:
        steps, _ = self.lstm(x)
        return self.fc(altered(self.act(steps[:, self.at]), self.extra))


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
        self.extra = s["extra"]

    def construct(self, x: Any) -> Any:
        x = self.fc2(altered(self.act(self.fc1(x)), self.extra))
        return self.fc3(ops.cast(x, dtypes.float32))
