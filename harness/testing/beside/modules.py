"""The drawn networks in PyTorch; ``cells`` has the same networks as cells of the harness, with equal names and
settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import torch
from torch import nn

Settings = Mapping[str, Any]

ACTIVATIONS: Mapping[str, Callable[[], Any]] = {
    "relu": nn.ReLU, "tanh": nn.Tanh, "sigmoid": nn.Sigmoid, "gelu": lambda: nn.GELU("tanh"),
    "leaky": lambda: nn.LeakyReLU(0.2), "elu": nn.ELU, "silu": nn.SiLU,
}  # fmt: skip


class Perceptron(nn.Module):  # type: ignore[misc, unused-ignore]
    """Dense layers with activations, and normalisations between them."""

    def __init__(self, s: Settings) -> None:
        super().__init__()
        widths = [s["inputs"], *[s["width"]] * s["depth"]]
        self.dense = nn.ModuleList(nn.Linear(a, b) for a, b in pairwise(widths))
        norms = {"batch": lambda: nn.BatchNorm1d(s["width"]), "layer": lambda: nn.LayerNorm(s["width"], eps=s["eps"])}
        self.norm = nn.ModuleList(norms[s["norm"]]() for _ in widths[1:]) if s["norm"] in norms else None
        self.act = ACTIVATIONS[s["act"]]()
        self.head = nn.Linear(s["width"], s["classes"], bias=s["bias"])

    def forward(self, x: Any) -> Any:
        for at, dense in enumerate(self.dense):
            x = dense(x)
            if self.norm is not None:
                x = self.norm[at](x)
            x = self.act(x)
        return self.head(x)


class Block(nn.Module):  # type: ignore[misc, unused-ignore]
    """Two convolutions beside one."""

    def __init__(self, s: Settings, inputs: int, outputs: int) -> None:
        super().__init__()
        self.conv1, self.conv2 = (nn.Conv2d(a, outputs, 3, padding=1, bias=s["bias"]) for a in (inputs, outputs))
        self.bn1, self.bn2 = nn.BatchNorm2d(outputs), nn.BatchNorm2d(outputs)
        self.down = nn.Conv2d(inputs, outputs, 1, bias=False)
        self.act = ACTIVATIONS[s["act"]]()

    def forward(self, x: Any) -> Any:
        y = self.bn2(self.conv2(self.act(self.bn1(self.conv1(x)))))
        return self.act(y + self.down(x))


class Residual(nn.Module):  # type: ignore[misc, unused-ignore]
    """Residual blocks, pooled."""

    def __init__(self, s: Settings) -> None:
        super().__init__()
        widths = [3, *[s["channels"]] * s["depth"]]
        self.blocks = nn.ModuleList(Block(s, a, b) for a, b in pairwise(widths))
        self.pool = {"max": nn.MaxPool2d, "avg": nn.AvgPool2d}[s["pool"]](2, 2)
        self.head = nn.Linear(s["channels"], s["classes"])

    def forward(self, x: Any) -> Any:
        for block in self.blocks:
            x = block(x)
        return self.head(self.pool(x).mean((2, 3)))


class Layer(nn.Module):  # type: ignore[misc, unused-ignore]
    """Attention that looks back only, then two dense layers."""

    def __init__(self, s: Settings) -> None:
        super().__init__()
        size = s["width"]
        self.heads, self.scale = s["heads"], s["scale"]
        self.norm1, self.norm2 = nn.LayerNorm(size, eps=s["eps"]), nn.LayerNorm(size, eps=s["eps"])
        self.query, self.key, self.value = (nn.Linear(size, size, bias=s["bias"]) for _ in range(3))
        self.out, self.up, self.down = nn.Linear(size, size), nn.Linear(size, 2 * size), nn.Linear(2 * size, size)
        self.act = ACTIVATIONS[s["act"]]()
        self.softmax = nn.Softmax(-1)

    def split(self, x: Any) -> Any:
        """(batch, length, size) to (batch, heads, length, size of a head)."""
        return x.reshape(x.shape[0], x.shape[1], self.heads, x.shape[2] // self.heads).permute(0, 2, 1, 3)

    def forward(self, x: Any, seen: Any) -> Any:
        y = self.norm1(x)
        query, key, value = self.split(self.query(y)), self.split(self.key(y)), self.split(self.value(y))
        scores = torch.matmul(query, key.transpose(-1, -2)) * self.scale
        scores = torch.where(seen, scores, torch.full_like(scores, -1e9))
        mixed = torch.matmul(self.softmax(scores), value).permute(0, 2, 1, 3).reshape(x.shape)
        x = x + self.out(mixed)
        return x + self.down(self.act(self.up(self.norm2(x))))


class Decoder(nn.Module):  # type: ignore[misc, unused-ignore]
    """A small language model: one answer for each place."""

    def __init__(self, s: Settings) -> None:
        super().__init__()
        self.embedding = nn.Embedding(s["vocabulary"], s["width"])
        self.layers = nn.ModuleList(Layer(s) for _ in range(s["depth"]))
        self.norm = nn.LayerNorm(s["width"], eps=s["eps"])
        self.head = nn.Linear(s["width"], s["classes"])

    def forward(self, ids: Any, weights: Any) -> Any:
        seen = torch.gt(weights, 0.5)
        x = self.embedding(ids)
        for layer in self.layers:
            x = layer(x, seen)
        x = self.head(self.norm(x))
        return x.reshape(-1, x.shape[-1])


class Recurrent(nn.Module):  # type: ignore[misc, unused-ignore]
    """An LSTM, of whose steps the last is taken."""

    def __init__(self, s: Settings) -> None:
        super().__init__()
        both = s["bidirectional"]
        self.lstm = nn.LSTM(s["inputs"], s["width"], s["layers"], batch_first=True, bidirectional=both)
        self.act = ACTIVATIONS[s["act"]]()
        self.head = nn.Linear(s["width"] * (2 if both else 1), s["classes"])

    def forward(self, x: Any) -> Any:
        return self.head(self.act(self.lstm(x)[0][:, -1]))


class Autoencoder(nn.Module):  # type: ignore[misc, unused-ignore]
    """A variational autoencoder whose noise is given."""

    def __init__(self, s: Settings) -> None:
        super().__init__()
        self.up, self.out = nn.Linear(s["latent"], s["width"]), nn.Linear(s["width"], s["inputs"])
        self.encode = nn.Linear(s["inputs"], s["width"])
        self.mean, self.deviation = nn.Linear(s["width"], s["latent"]), nn.Linear(s["width"], s["latent"])
        self.act = ACTIVATIONS[s["act"]]()

    def forward(self, x: Any, noise: Any) -> Any:
        hidden = self.act(self.encode(x))
        mean, deviation = self.mean(hidden), self.deviation(hidden)
        z = mean + torch.exp(deviation * 0.5) * noise
        return torch.sigmoid(self.out(self.act(self.up(z))))


BUILD: Mapping[str, Callable[[Settings], Any]] = {
    "mlp": Perceptron, "resnet": Residual, "gpt": Decoder, "lstm": Recurrent, "vae": Autoencoder,
}  # fmt: skip
LOSSES: Mapping[str, Callable[[str], Any]] = {
    "mse": lambda r: nn.MSELoss(reduction=r), "l1": lambda r: nn.L1Loss(reduction=r),
    "smooth": lambda r: nn.SmoothL1Loss(reduction=r), "cross": lambda r: nn.CrossEntropyLoss(reduction=r),
    "bce": lambda r: nn.BCEWithLogitsLoss(reduction=r),
}  # fmt: skip


def optimizer(s: Settings, parameters: Any) -> Any:
    """The optimizer of a network."""
    rate = s["rate"]
    if s["optimizer"] == "adam":
        return torch.optim.Adam(parameters, rate, betas=s["betas"], eps=s["adam_eps"])
    return torch.optim.SGD(parameters, rate, momentum=s["momentum"] if s["optimizer"] == "momentum" else 0.0)
