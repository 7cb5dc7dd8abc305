"""The drawn networks as cells of the harness; ``modules`` has the same networks in PyTorch, with equal names and
settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

from harness.framework import nn
from harness.framework import ops as functions

Settings = Mapping[str, Any]
ops: Any = functions  # its names are looked up on request

ACTIVATIONS: Mapping[str, Callable[[], Any]] = {
    "relu": nn.ReLU, "tanh": nn.Tanh, "sigmoid": nn.Sigmoid, "gelu": nn.GELU, "leaky": lambda: nn.LeakyReLU(0.2),
    "elu": nn.ELU, "silu": nn.SiLU,
}  # fmt: skip


class Perceptron(nn.Cell):
    """Dense layers with activations, and normalisations between them."""

    def __init__(self, s: Settings) -> None:
        super().__init__()
        widths = [s["inputs"], *[s["width"]] * s["depth"]]
        self.dense: Any = nn.CellList([nn.Dense(a, b) for a, b in pairwise(widths)])
        norms: Mapping[str, Callable[[], Any]] = {
            "batch": lambda: nn.BatchNorm1d(s["width"]), "layer": lambda: nn.LayerNorm((s["width"],), epsilon=s["eps"]),
        }  # fmt: skip
        self.norm: Any = nn.CellList([norms[s["norm"]]() for _ in widths[1:]]) if s["norm"] in norms else None
        self.act: Any = ACTIVATIONS[s["act"]]()
        self.head: Any = nn.Dense(s["width"], s["classes"], has_bias=s["bias"])

    def construct(self, x: Any) -> Any:
        for at in range(len(self.dense)):
            x = self.dense[at](x)
            if self.norm is not None:
                x = self.norm[at](x)
            x = self.act(x)
        return self.head(x)


class Block(nn.Cell):
    """Two convolutions beside one."""

    def __init__(self, s: Settings, inputs: int, outputs: int) -> None:
        super().__init__()
        self.conv1: Any = nn.Conv2d(inputs, outputs, 3, pad_mode="same", has_bias=s["bias"])
        self.conv2: Any = nn.Conv2d(outputs, outputs, 3, pad_mode="same", has_bias=s["bias"])
        self.bn1, self.bn2 = nn.BatchNorm2d(outputs), nn.BatchNorm2d(outputs)
        self.down: Any = nn.Conv2d(inputs, outputs, 1, pad_mode="valid")
        self.act: Any = ACTIVATIONS[s["act"]]()

    def construct(self, x: Any) -> Any:
        y = self.bn2(self.conv2(self.act(self.bn1(self.conv1(x)))))
        return self.act(y + self.down(x))


class Residual(nn.Cell):
    """Residual blocks, pooled."""

    def __init__(self, s: Settings) -> None:
        super().__init__()
        widths = [3, *[s["channels"]] * s["depth"]]
        self.blocks: Any = nn.CellList([Block(s, a, b) for a, b in pairwise(widths)])
        self.pool: Any = {"max": nn.MaxPool2d, "avg": nn.AvgPool2d}[s["pool"]](2, 2)
        self.head: Any = nn.Dense(s["channels"], s["classes"])

    def construct(self, x: Any) -> Any:
        for block in self.blocks:
            x = block(x)
        return self.head(self.pool(x).mean((2, 3)))


class Layer(nn.Cell):
    """Attention that looks back only, then two dense layers."""

    def __init__(self, s: Settings) -> None:
        super().__init__()
        size = s["width"]
        self.heads, self.scale = s["heads"], s["scale"]
        self.norm1: Any = nn.LayerNorm((size,), epsilon=s["eps"])
        self.norm2: Any = nn.LayerNorm((size,), epsilon=s["eps"])
        self.query: Any = nn.Dense(size, size, has_bias=s["bias"])
        self.key: Any = nn.Dense(size, size, has_bias=s["bias"])
        self.value: Any = nn.Dense(size, size, has_bias=s["bias"])
        self.out, self.up, self.down = nn.Dense(size, size), nn.Dense(size, 2 * size), nn.Dense(2 * size, size)
        self.act: Any = ACTIVATIONS[s["act"]]()
        self.softmax: Any = nn.Softmax(-1)

    def split(self, x: Any) -> Any:
        """(batch, length, size) to (batch, heads, length, size of a head)."""
        shape = (x.shape[0], x.shape[1], self.heads, x.shape[2] // self.heads)
        return x.reshape(shape).transpose((0, 2, 1, 3))

    def construct(self, x: Any, seen: Any) -> Any:
        y = self.norm1(x)
        query, key, value = self.split(self.query(y)), self.split(self.key(y)), self.split(self.value(y))
        scores = ops.matmul(query, key.transpose((0, 1, 3, 2))) * self.scale
        scores = ops.select(seen, scores, ops.full_like(scores, -1e9))
        mixed = ops.matmul(self.softmax(scores), value).transpose((0, 2, 1, 3)).reshape(x.shape)
        x = x + self.out(mixed)
        return x + self.down(self.act(self.up(self.norm2(x))))


class Decoder(nn.Cell):
    """A small language model: one answer for each place."""

    def __init__(self, s: Settings) -> None:
        super().__init__()
        self.embedding: Any = nn.Embedding(s["vocabulary"], s["width"])
        self.layers: Any = nn.CellList([Layer(s) for _ in range(s["depth"])])
        self.norm: Any = nn.LayerNorm((s["width"],), epsilon=s["eps"])
        self.head: Any = nn.Dense(s["width"], s["classes"])

    def construct(self, ids: Any, weights: Any) -> Any:
        seen = ops.gt(weights, 0.5)
        x = self.embedding(ids)
        for layer in self.layers:
            x = layer(x, seen)
        x = self.head(self.norm(x))
        return x.reshape((-1, x.shape[-1]))


class Recurrent(nn.Cell):
    """An LSTM, of whose steps the last is taken."""

    def __init__(self, s: Settings) -> None:
        super().__init__()
        both = s["bidirectional"]
        self.lstm: Any = nn.LSTM(s["inputs"], s["width"], s["layers"], batch_first=True, bidirectional=both)
        self.act: Any = ACTIVATIONS[s["act"]]()
        self.head: Any = nn.Dense(s["width"] * (2 if both else 1), s["classes"])

    def construct(self, x: Any) -> Any:
        return self.head(self.act(self.lstm(x)[0][:, -1]))


class Autoencoder(nn.Cell):
    """A variational autoencoder whose noise is given."""

    def __init__(self, s: Settings) -> None:
        super().__init__()
        self.up, self.out = nn.Dense(s["latent"], s["width"]), nn.Dense(s["width"], s["inputs"])
        self.encode: Any = nn.Dense(s["inputs"], s["width"])
        self.mean, self.deviation = nn.Dense(s["width"], s["latent"]), nn.Dense(s["width"], s["latent"])
        self.act: Any = ACTIVATIONS[s["act"]]()

    def construct(self, x: Any, noise: Any) -> Any:
        hidden = self.act(self.encode(x))
        mean, deviation = self.mean(hidden), self.deviation(hidden)
        z = mean + ops.exp(deviation * 0.5) * noise
        return ops.sigmoid(self.out(self.act(self.up(z))))


BUILD: Mapping[str, Callable[[Settings], Any]] = {
    "mlp": Perceptron, "resnet": Residual, "gpt": Decoder, "lstm": Recurrent, "vae": Autoencoder,
}  # fmt: skip
LOSSES: Mapping[str, Callable[[str], Any]] = {
    "mse": nn.MSELoss, "l1": nn.L1Loss, "smooth": lambda r: nn.SmoothL1Loss(reduction=r),
    "cross": lambda r: nn.CrossEntropyLoss(reduction=r), "bce": nn.BCEWithLogitsLoss,
}  # fmt: skip


class WithLoss(nn.Cell):
    """A network of any number of inputs and its loss; the last input is the label."""

    def __init__(self, network: Any, loss: Any) -> None:
        super().__init__()
        self.network: Any = network
        self.loss: Any = loss

    def construct(self, *batch: Any) -> Any:
        return self.loss(self.network(*batch[:-1]), batch[-1])


def optimizer(s: Settings, parameters: Any) -> Any:
    """The optimizer of a network."""
    if s["optimizer"] == "adam":
        beta1, beta2 = s["betas"]
        return nn.Adam(parameters, s["rate"], beta1=beta1, beta2=beta2, eps=s["adam_eps"])
    if s["optimizer"] == "momentum":
        return nn.Momentum(parameters, s["rate"], s["momentum"])
    return nn.SGD(parameters, s["rate"])
