"""Drawn trainings of several ranks, run by the emulator, with a fault on purpose in one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness import Parameter, Tensor, communication, context, nn, ops, set_seed
from harness.backends import BACKENDS
from harness.capture import Capture
from harness.framework.ops import group_sums
from harness.framework.ops.operators import collective
from harness.framework.runtime import session
from harness.framework.runtime.launch import Launch
from tests.explain.ranks.faults import Fault

Array = np.ndarray[Any, np.dtype[Any]]

#: those of ``FAULTS`` that the emulator can have
KINDS = (
    "bit in an operator", "bit in a reduction", "stale buffer", "not reduced", "mean for sum", "fewer ranks",
    "largest for sum", "shard", "batch", "seed", "replica", "kernel",
)  # fmt: skip
#: faults in the result of a collective
OF_COLLECTIVES = (
    "bit in a reduction", "stale buffer", "not reduced", "mean for sum", "fewer ranks", "largest for sum",
)  # fmt: skip


@dataclass(frozen=True)
class Training:
    """A drawn training.

    Attributes:
        seed: of everything drawn.
        ranks: number of ranks.
        layout: ``data``: each rank has a shard; ``pairs``: each two ranks share a layer's columns, and pairs have
            shards.
        widths: of the layers.
        activation, optimizer: names.
        drops: whether there is dropout.
        norm: whether there is a LayerNorm.
        mean: whether gradients are averaged.
        steps: number of steps.
    """

    seed: int
    ranks: int
    layout: str
    widths: tuple[int, ...]
    activation: str
    optimizer: str
    drops: bool
    norm: bool
    mean: bool
    steps: int


def drawn(seed: int, ranks: int | None = None) -> Training:
    """A training of ``seed``."""
    random = np.random.default_rng([seed, 39])
    many = ranks or 4
    layout = str(random.choice(["data", "data", "pairs"])) if many > 2 else "data"
    widths = tuple(2 * int(each) for each in random.integers(2, 5, int(random.integers(1, 4))))
    return Training(
        seed, many, layout, widths, str(random.choice(["ReLU", "Tanh", "Sigmoid", "GELU"])),
        str(random.choice(["Momentum", "Adam", "SGD"])), bool(random.random() < 0.5), bool(random.random() < 0.3),
        bool(random.random() < 0.5), 3,
    )  # fmt: skip


def kinds_of(training: Training) -> list[str]:
    """The faults that a training can have."""
    return [kind for kind in KINDS if kind != "seed" or training.drops]


def drawn_fault(training: Training, kind: str) -> Fault:
    """A fault of ``kind`` for a training."""
    random = np.random.default_rng([training.seed, sum(map(ord, kind))])
    rank = int(random.integers(training.ranks))
    other = int((rank + random.integers(1, training.ranks)) % training.ranks)
    if training.layout == "pairs" and other // 2 == rank // 2:  # another pair's shard
        other = (other + 2) % training.ranks
    return Fault(kind, rank, int(random.integers(1, training.steps)), int(random.integers(1000)), other)


class _Sharded(nn.Cell):
    """A layer whose columns lie on the two ranks of a pair."""

    def __init__(self, inner: int, outer: int, draw: Any, half: int, group: str) -> None:
        super().__init__()
        first, second = draw(inner, outer), draw(outer, inner)
        wide = outer // 2
        self.first = Parameter(Tensor(first[:, half * wide : (half + 1) * wide]), name="first")
        self.second = Parameter(Tensor(second[half * wide : (half + 1) * wide]), name="second")
        self.total = ops.AllReduce(group=group)

    def construct(self, x: Any) -> Any:
        return self.total(ops.matmul(ops.tanh(ops.matmul(x, self.first)), self.second))


class _Net(nn.Cell):
    def __init__(self, training: Training, rank: int, group: str) -> None:
        super().__init__()
        random = np.random.default_rng([training.seed, 1])

        def draw(*shape: int) -> Array:
            return (random.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32)

        layers: list[nn.Cell] = []
        for inner, outer in zip(training.widths, [*training.widths[1:], 4], strict=True):
            if training.norm:
                layers.append(nn.LayerNorm((inner,)))
            if training.layout == "pairs":
                layers.append(_Sharded(inner, outer, draw, rank % 2, group))
            layers.append(nn.Dense(inner, outer, Tensor(draw(outer, inner)), Tensor(draw(outer))))
            layers.append(getattr(nn, training.activation)())
            if training.drops:
                layers.append(nn.Dropout(p=0.3))
        self.layers = nn.SequentialCell(layers)

    def construct(self, x: Any) -> Any:
        return self.layers(x)


class Struck:
    """A fault in an operator's result, as the runtime asks for it; in a collective's, from all ranks' tensors."""

    def __init__(self, fault: Fault, training: Training) -> None:
        self.fault, self.training = fault, training
        self.passed: dict[str, Array] = {}
        self.armed = False
        self.could = self.met = 0

    def before(self, launch: Launch, iteration: int) -> None:
        """Chooses the operator."""
        fault, node = self.fault, launch.node
        if fault.operator or fault.kind not in (*OF_COLLECTIVES, "bit in an operator", "kernel"):
            return
        if fault.kind in OF_COLLECTIVES:
            fits = node.op == "AllReduce" and "pair" not in node.attrs["group"]
        else:
            fits = node.op in ("MatMul", "BiasAdd", "ReLU", "Tanh", "GeLU", "Sigmoid", "BiasAddGrad", "TanhGrad")
        if fits and not iteration:
            self.could += 1
        elif fits and iteration == fault.iteration:
            self.met += 1
            if self.met == fault.which % self.could + 1:
                fault.operator, self.armed = node.name, True

    def after(self, launch: Launch, iteration: int, results: tuple[Array, ...]) -> tuple[Array, ...]:
        """The results with the fault in them."""
        found = results
        if self.armed and self.fault.operator == launch.node.name:
            self.armed = False
            if self.fault.kind not in _FROM_ALL:
                found = (self._spoilt(launch.node.name, results[0]), *results[1:])
        elif launch.node.op == "AllReduce":
            self.passed[launch.node.name] = np.array(results[0])
        return found

    def _spoilt(self, name: str, result: Array) -> Array:
        kind, made = self.fault.kind, np.array(result)
        flat = made.reshape(-1)
        if kind == "stale buffer":
            return self.passed[name].copy()
        if kind == "kernel":
            flat *= np.float32(1.01)
            flat += np.float32(0.003)
        else:
            at = self.training.seed % flat.size
            flat.view(np.uint32)[at] ^= np.uint32(1 << 20 + self.training.seed % 3)
        return made

    def reduced(self, parts: Sequence[Array], op: str, dtype: Any) -> Array:
        """What a collective takes the tensors of all ranks for."""
        kind, own = self.fault.kind, self.fault.rank
        if self.armed and kind in _FROM_ALL:
            if kind == "not reduced":
                return parts[own].copy()
            if kind == "largest for sum":
                return group_sums.reduced(parts, "max", dtype)
            if kind == "fewer ranks":
                parts = [each for rank, each in enumerate(parts) if rank != self.fault.other]
            made = group_sums.reduced(parts, op, dtype)
            return made / np.float32(len(parts)) if kind == "mean for sum" else made
        return group_sums.reduced(parts, op, dtype)


_FROM_ALL = ("not reduced", "mean for sum", "fewer ranks", "largest for sum")


def run(training: Training, fault: Fault | None = None) -> tuple[Capture, str]:
    """Runs a training; gives its capture, and the operator that had the fault."""
    with BACKENDS.get("cpu").open(network="net") as process:
        told = process.ranks(training.ranks, lambda: _trained(training, fault))
        operator = told[fault.rank] if fault is not None else ""
        return process.capture(), operator


def _trained(training: Training, fault: Fault | None) -> str:
    """A rank's training; gives the operator that had the fault."""
    context.set_context(mode=context.GRAPH_MODE)
    communication.init()
    rank = communication.get_rank()
    mine = fault if fault is not None and fault.rank == rank else None
    context.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=training.mean)
    pair = f"pair{rank // 2}"
    if training.layout == "pairs":
        communication.create_group(pair, [rank // 2 * 2, rank // 2 * 2 + 1])
    set_seed(training.seed + (77 if mine is not None and mine.kind == "seed" else 0))
    net = _Net(training, rank, pair)
    if mine is not None and mine.kind == "replica":
        weights = [each for each in net.trainable_params() if "first" not in each.name and "second" not in each.name]
        chosen = weights[mine.which % len(weights)]
        chosen.set_data(Tensor(chosen.asnumpy() * np.float32(1.25) + np.float32(0.01)))
        mine.operator = chosen.name
    optimizer: Any = getattr(nn, training.optimizer)
    given = (0.9,) if training.optimizer == "Momentum" else ()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer(net.trainable_params(), 0.05, *given))
    step.set_train()
    struck = Struck(mine, training) if mine is not None else None
    if struck is not None:
        session.current().faults.append(struck)
        collective.reduced = struck.reduced
    for iteration in range(training.steps):
        at, shard = iteration, rank // 2 if training.layout == "pairs" else rank
        if mine is not None and mine.iteration == iteration:
            at -= mine.kind == "batch"
            shard = (mine.other // 2 if training.layout == "pairs" else mine.other) if mine.kind == "shard" else shard
        random = np.random.default_rng([training.seed, 2, at, shard])
        x, y = (random.standard_normal((3, n)).astype(np.float32) for n in (training.widths[0], 4))
        step(Tensor(x), Tensor(y))
    return mine.operator if mine is not None else ""
