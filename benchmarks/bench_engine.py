"""What a training step costs on the backends cpu and torch: ``python -m benchmarks.bench_engine`` (extra ``torch``).

The shipped LeNet (its batches), and a larger convolutional network (images [16, 3, 64, 64], three convolutions of 32 to
128 channels, SGD with momentum), nothing watching. The harness's own kernels sum in float64 in a fixed order, for the
same bits everywhere; PyTorch's are made for speed. One thread, because the waiting of a second one would count as work.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import torch

import harness
from benchmarks._measure import Contender, run_and_show
from benchmarks._pages import printed
from harness import Tensor, nn
from harness.framework.engines.torch import TorchEngine
from harness.framework.runtime.session import Session, in_session
from tests.gate.networks import lenet
from tests.gate.networks.recorder import Recorder

WIDTHS = (32, 64, 128)


def convolutions() -> nn.SequentialCell:
    """Three convolutions with batch normalization, halving the image each, and a classifier."""
    layers: list[nn.Cell] = []
    for given, wanted in zip((3, *WIDTHS[:-1]), WIDTHS, strict=True):
        layers += [nn.Conv2d(given, wanted, 3, pad_mode="same"), nn.BatchNorm2d(wanted), nn.ReLU(), nn.MaxPool2d(2, 2)]
    return nn.SequentialCell([*layers, nn.Flatten(), nn.Dense(WIDTHS[-1] * 8 * 8, 10)])


def training() -> Callable[[], object]:
    """A step of the larger network."""
    network, loss = convolutions(), nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    step = nn.TrainOneStepCell(
        nn.WithLossCell(network, loss), nn.Momentum(network.trainable_params(), learning_rate=0.01, momentum=0.9)
    )
    step.set_train()
    words = np.random.Generator(np.random.PCG64(1)).standard_normal((16, 3, 64, 64))
    x, y = Tensor(words.astype(np.float32)), Tensor(np.arange(16, dtype=np.int32) % 10)
    return lambda: step(x, y)


def on(engine: TorchEngine | None, make: Callable[[], Callable[[], object]]) -> Callable[[], object]:
    """What ``make`` gives, run on an engine in a session of its own; compiled before it is measured."""
    session = Session(hooked=False)
    session.engine = engine

    def run() -> object:
        with in_session(session):
            return step()

    with in_session(session):
        step = make()
    run()
    return run


def main() -> None:
    """Prints a table for each network."""
    torch.set_num_threads(1)
    harness.set_context(mode=harness.GRAPH_MODE)
    cases: dict[str, Callable[[], Callable[[], object]]] = {
        "LeNet, as shipped (compiled again)": lambda: lambda: lenet.play(Recorder()),
        "three convolutions, one step": training,
    }
    for name, make in cases.items():
        contenders = [
            Contender("backend cpu (numpy)", on(None, make)),
            Contender("backend torch", on(TorchEngine(), make)),
        ]
        run_and_show(name, contenders, rounds=3)


if __name__ == "__main__":
    sys.exit(printed("performance.md", "engine", main))
