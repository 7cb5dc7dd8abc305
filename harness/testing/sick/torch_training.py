"""Drawn trainings in PyTorch (extra ``torch``): the networks of ``plans``, with the same names of parameters."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from harness.capture import Capture
from harness.capture.torch import TorchCapture

#: a ``harness.testing.sick.Plan`` is given as ``plan`` throughout
_ACTIVATIONS = {
    "relu": nn.ReLU, "tanh": nn.Tanh, "sigmoid": nn.Sigmoid, "gelu": nn.GELU, "elu": nn.ELU, "leakyrelu": nn.LeakyReLU
}  # fmt: skip


class Do(nn.Module):  # type: ignore[misc, unused-ignore]
    """Applies one function; see ``harness.testing.sick.cells.Do``."""

    def __init__(self, what: str, amount: float) -> None:
        super().__init__()
        self.what, self.amount = what, amount

    def forward(self, x: Tensor) -> Tensor:
        amount = self.amount
        made: Tensor = {
            "log_of_relu": lambda: torch.log(torch.relu(x)), "log": lambda: torch.log(x),
            "divide": lambda: x / torch.relu(x), "root": lambda: torch.sqrt(x),
            "inverse_root": lambda: torch.rsqrt(torch.relu(x)), "exponential": lambda: torch.exp(x * amount),
            "square_in_half": lambda: (x * amount).half().square().float(),
            "cast_to_half": lambda: (x * amount).half().float(), "scale": lambda: x * amount,
            "shift": lambda: x + amount, "softmax": lambda: torch.softmax(x, -1),
            "softmax_over_batch": lambda: torch.softmax(x, 0),
        }[self.what]()  # fmt: skip
        return made


class Recurrent(nn.Module):  # type: ignore[misc, unused-ignore]
    """An unrolled recurrence."""

    def __init__(self, features: int, width: int, linear: bool) -> None:
        super().__init__()
        self.into, self.again, self.linear = nn.Linear(features, width), nn.Linear(width, width), linear

    def forward(self, x: Tensor) -> Tensor:
        state: Tensor = self.into(x[:, 0])
        for at in range(1, x.shape[1]):
            state = self.into(x[:, at]) + self.again(state)
            state = state if self.linear else torch.tanh(state)
        return state


class Attention(nn.Module):  # type: ignore[misc, unused-ignore]
    """One head of attention, its mean over places."""

    def __init__(self, features: int, width: int, axis: int, mask: float | None) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(features, width) for _ in range(3))
        self.axis, self.scale, self.mask = axis, width**-0.5, mask

    def forward(self, x: Tensor) -> Tensor:
        scores = self.query(x) @ self.key(x).transpose(-1, -2) * self.scale
        if self.mask is not None:
            scores = scores + torch.full(scores.shape[1:], self.mask).triu(1)
        return (torch.softmax(scores, self.axis) @ self.value(x)).mean(1)


class Words(nn.Module):  # type: ignore[misc, unused-ignore]
    """Mean of embedded words; tied: words out by the same table."""

    def __init__(self, words: int, width: int, tied: bool) -> None:
        super().__init__()
        self.table, self.tied = nn.Embedding(words, width), tied
        if tied:
            self.inner = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        mean: Tensor = self.table(x.long()).mean(1)
        return torch.tanh(self.inner(mean)) @ self.table.weight.T if self.tied else mean


class Residual(nn.Module):  # type: ignore[misc, unused-ignore]
    """A block around which its input goes."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm, self.one, self.two = nn.LayerNorm(width), nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        made: Tensor = x + self.two(torch.relu(self.one(self.norm(x))))
        return made


def _norm(plan: Any, images: bool = False) -> list[nn.Module]:
    if plan.norm == "batch":
        return [nn.BatchNorm2d(plan.width) if images else nn.BatchNorm1d(plan.width)]
    return [nn.LayerNorm(plan.width)] if plan.norm == "layer" and not images else []


def _block(plan: Any, inputs: int, at: int = 0) -> list[nn.Module]:
    cells: list[nn.Module] = [nn.Linear(inputs, plan.width), *_norm(plan)]
    cells += [] if plan.linear else [_ACTIVATIONS[plan.activation]()]
    cells += [nn.Dropout(plan.drop)] if plan.drop else []
    if plan.insert is not None and at == plan.at:
        cells.append(Do(plan.insert.what, plan.insert.amount))
    return cells


def _hidden(plan: Any, words: int) -> list[nn.Module]:
    width, family = plan.width, plan.family
    if family == "conv":
        first, second = nn.Conv2d(2, width, 3, padding="same"), nn.Conv2d(width, width, 3, padding="same")
        act = _ACTIVATIONS[plan.activation]
        return [first, *_norm(plan, True), act(), second, *_norm(plan, True), act(), nn.Flatten()]
    if family == "recurrent":
        return [Recurrent(plan.features, width, plan.linear)]
    if family == "attention":
        return [Attention(plan.features, width, plan.axis, plan.mask)]
    if family == "words":
        return [Words(words, width, False), *_block(plan, width)]
    if family == "residual":
        return [nn.Linear(plan.features, width), *(Residual(width) for _ in range(plan.depth))]
    return [cell for at in range(plan.depth) for cell in _block(plan, plan.features if at == 0 else width, at)]


def build(plan: Any, words: int) -> nn.Sequential:
    """The network of a plan; ``words`` is the number of rows of a table."""
    end = [Do(plan.end.what, plan.end.amount)] if plan.end is not None else []
    if plan.family == "tied":
        return nn.Sequential(Words(words, plan.width, True), *end)
    cells = _hidden(plan, words)
    if plan.insert is not None and plan.family not in ("mlp", "words"):
        cells.append(Do(plan.insert.what, plan.insert.amount))
    inputs = plan.width * 36 if plan.family == "conv" else plan.width
    return nn.Sequential(*cells, nn.Linear(inputs, plan.classes), *end)


def _fill(plan: Any, network: nn.Module) -> None:
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            values = plan.first_values(name, tuple(parameter.shape))
            if values is None:
                values = parameter.numpy().copy()
            changed = plan.weights(name, values) if plan.weights is not None else None
            parameter.copy_(torch.from_numpy(np.ascontiguousarray(values if changed is None else changed, np.float32)))


def _optimizer(plan: Any, network: nn.Module) -> torch.optim.Optimizer:
    given = [each for name, each in network.named_parameters() if name not in plan.left_out]
    rate = plan.rate
    if plan.optimizer == "adam":
        return torch.optim.Adam(given, rate)
    if plan.optimizer == "rmsprop":
        return torch.optim.RMSprop(given, rate)
    return torch.optim.SGD(given, rate, momentum=0.9 if plan.optimizer == "momentum" else 0.0)


def capture(plan: Any, words: int) -> Capture:
    """Trains it, everything captured; a run that fails is kept up to its failure."""
    torch.manual_seed(plan.seed % 2**31)
    network = build(plan, words)
    _fill(plan, network)
    optimizer, loss = _optimizer(plan, network), nn.CrossEntropyLoss()
    whole = TorchCapture(network, network=f"{plan.family}{plan.seed}", gradients=not plan.evaluate)
    with suppress(RuntimeError, ValueError, IndexError):
        for x, y in plan.batches():
            with whole.step():
                _step(plan, network, optimizer, loss, torch.from_numpy(x), torch.from_numpy(y))
    return whole.capture()


def _step(plan: Any, network: nn.Module, optimizer: Any, loss: nn.Module, x: Tensor, y: Tensor) -> None:
    if plan.evaluate:
        with torch.no_grad():
            network(x)
        return
    optimizer.zero_grad()
    found = loss(network(x), y if plan.dense else y.long())
    (found * plan.sens if plan.sens != 1 else found).backward()
    optimizer.step()
