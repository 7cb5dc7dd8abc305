"""Small networks in PyTorch, and captures of their training."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from harness.capture import Capture
from harness.capture.torch import TorchCapture


class Mlp(nn.Module):
    """Two dense layers and an activation that can be exchanged."""

    def __init__(self, act: Callable[[Tensor], Tensor] = torch.relu) -> None:
        super().__init__()
        self.fc1 = nn.Linear(6, 8)
        self.fc2 = nn.Linear(8, 3)
        self.act = act

    def forward(self, x: Tensor) -> Tensor:
        return self.fc2(self.act(self.fc1(x)))


def conv_net() -> nn.Module:
    """A convolution, batch normalisation, pooling, a dense layer."""
    return nn.Sequential(
        nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(4 * 9, 3),
    )  # fmt: skip


def encoder() -> nn.Module:
    """Attention, with dropout."""
    return nn.Sequential(nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, batch_first=True), nn.Linear(8, 3))


@dataclass(frozen=True)
class Case:
    """A training to capture.

    Attributes:
        make: the network.
        shape: of one batch.
        optimizer: from parameters.
    """

    make: Callable[[], nn.Module]
    shape: tuple[int, ...]
    optimizer: Callable[[Any], torch.optim.Optimizer]


CASES = {
    "mlp-sgd": Case(Mlp, (5, 6), lambda given: torch.optim.SGD(given, lr=0.1, momentum=0.9)),
    "mlp-adam": Case(Mlp, (5, 6), torch.optim.Adam),
    "mlp-adam-foreach": Case(Mlp, (5, 6), lambda given: torch.optim.Adam(given, foreach=True)),
    "mlp-adam-fused": Case(Mlp, (5, 6), lambda given: torch.optim.Adam(given, fused=True)),
    "conv-sgd": Case(conv_net, (4, 2, 6, 6), lambda given: torch.optim.SGD(given, lr=0.1)),
    "encoder-adamw": Case(encoder, (3, 5, 8), torch.optim.AdamW),
}


class Training:
    """A seeded training of a case."""

    def __init__(self, case: Case, dtype: torch.dtype = torch.float32) -> None:
        torch.manual_seed(7)
        self.module = case.make().to(dtype)
        self.optimizer = case.optimizer(self.module.parameters())
        self.batches = [torch.randn(case.shape).to(dtype) for _ in range(2)]

    def step(self, batch: Tensor) -> None:
        """Forward, backward, update."""
        self.optimizer.zero_grad()
        self.module(batch).square().mean().backward()
        self.optimizer.step()

    def plain(self) -> None:
        """Trains without a capture."""
        for batch in self.batches:
            self.step(batch)

    def captured(self, **settings: Any) -> Capture:
        """Trains and captures."""
        watch = TorchCapture(self.module, **settings)
        for batch in self.batches:
            with watch.step():
                self.step(batch)
        return watch.capture()


def captured(name: str, **settings: Any) -> Capture:
    """The capture of a case's training."""
    return Training(CASES[name]).captured(**settings)
