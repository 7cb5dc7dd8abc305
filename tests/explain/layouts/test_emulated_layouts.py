"""Layouts of the emulator's ranks beside one rank: right ones hold, and faults have their ranks and cause."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness import Parameter, Tensor, communication, context, nn, ops
from harness.backends import BACKENDS
from harness.explain.layouts import beside_one, table_of
from harness.explain.ranks import RanksReport, Run, lines, run_of

Array = np.ndarray[Any, np.dtype[Any]]
WIDTH, INNER, ROWS = 4, 8, 8
#: network, layout, number of ranks, optimizer
LAYOUTS = [
    ("tanh", "data", 2, "Momentum"), ("residual", "data", 4, "Adam"), ("gated", "data", 2, "SGD"),
    ("gated", "tensor", 4, "Momentum"), ("tanh", "tensor", 2, "Adam"), ("residual", "tensor", 2, "SGD"),
]  # fmt: skip
#: a fault of data parallelism -> the cause that it is told as
FAULTS = {"unreduced": "not-reduced", "scale": "scale", "shard": "shard"}


class _Into(nn.Cell):
    """Into a part that ranks share: gradients are summed."""

    def __init__(self) -> None:
        super().__init__()
        self.total = ops.AllReduce()

    def construct(self, x: Any) -> Any:
        return x * 1

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        return (self.total(dout),)


class _Out(nn.Cell):
    """Out of it: results are summed, gradients are not."""

    def __init__(self) -> None:
        super().__init__()
        self.total = ops.AllReduce()

    def construct(self, x: Any) -> Any:
        return self.total(x)

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        return (dout,)


class _Block(nn.Cell):
    """Two matrices, whose inner width is cut over ranks."""

    def __init__(self, kind: str, matrices: list[Array], cut: slice, shared: bool, at: int) -> None:
        super().__init__()
        self.kind, (first, gate, second) = kind, matrices
        self.first = Parameter(Tensor(first[cut].copy()), name=f"first{at}")
        self.second = Parameter(Tensor(second[:, cut].copy()), name=f"second{at}")
        if kind == "gated":
            self.gate = Parameter(Tensor(gate[cut].copy()), name=f"gate{at}")
        self.into, self.out = (_Into(), _Out()) if shared else (nn.Identity(), nn.Identity())

    def construct(self, x: Any) -> Any:
        y = self.into(x)
        h = ops.tanh(ops.matmul(y, self.first.T))
        if self.kind == "gated":
            h = ops.sigmoid(ops.matmul(y, self.gate.T)) * h
        z = self.out(ops.matmul(h, self.second.T))
        return x + z if self.kind == "residual" else z


def _train(kind: str, layout: str, optimizer: str, seed: int, fault: str) -> None:
    context.set_context(mode=context.GRAPH_MODE)
    rank, size = 0, 1
    if layout != "one":
        communication.init()
        rank, size = communication.get_rank(), communication.get_group_size()
    if layout == "data" and fault != "unreduced":
        context.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=fault != "scale")
    draw, shared = np.random.default_rng(seed), layout == "tensor"
    width = INNER // size if shared else INNER
    cut = slice(rank * width, (rank + 1) * width) if shared else slice(None)
    blocks = []
    for at in range(2):
        shapes = (INNER, WIDTH), (INNER, WIDTH), (WIDTH, INNER)
        blocks.append(_Block(kind, [draw.normal(size=each).astype(np.float32) / 2 for each in shapes], cut, shared, at))
    net = nn.SequentialCell(blocks)
    rates = {"Momentum": (0.05, 0.9), "Adam": (0.02,), "SGD": (0.05,)}
    step = nn.TrainOneStepCell(
        nn.WithLossCell(net, nn.MSELoss()), getattr(nn, optimizer)(net.trainable_params(), *rates[optimizer])
    )
    for iteration in range(3):
        rows = np.random.default_rng([seed, iteration]).normal(size=(2, ROWS, WIDTH)).astype(np.float32)
        if layout == "data":
            mine = 0 if fault == "shard" and rank == 1 and iteration == 1 else rank
            rows = np.split(rows, size, axis=1)[mine]
        step(Tensor(rows[0]), Tensor(rows[1]))


def _run(ranks: int, *how: Any) -> Run:
    with BACKENDS.get("cpu").open(network="net") as process:
        process.ranks(ranks, lambda: _train(*how))
        return run_of(process.capture())


def _told(kind: str, layout: str, ranks: int, optimizer: str, fault: str = "") -> RanksReport:
    seed = len(kind) + 10 * ranks
    several, one = _run(ranks, kind, layout, optimizer, seed, fault), _run(1, kind, "one", optimizer, seed, "")
    return beside_one(several, one, table_of([]))


@pytest.mark.long
@pytest.mark.parametrize(("kind", "layout", "ranks", "optimizer"), LAYOUTS)
def test_right_layouts_hold(kind: str, layout: str, ranks: int, optimizer: str) -> None:
    report = _told(kind, layout, ranks, optimizer)
    assert report.first is None, lines(report)
    assert report.compared > 12
    assert any("nothing states how that is joined" in each for each in report.notes)


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_data_parallelism(fault: str) -> None:
    report = _told("gated", "data", 2, "Momentum", fault)
    assert report.first is not None
    assert report.first.cause is not None, lines(report)
    assert report.first.cause.name == FAULTS[fault], lines(report)
    assert (report.first.execution.iteration, report.first.execution.op_type) == (int(fault == "shard"), "Parameter")
