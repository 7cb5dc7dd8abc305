"""One training step of a network, in a process of its own: ``python _step_nets.py PACKAGE NETWORK``.

PACKAGE is ``harness`` or ``mindspore``: the networks are written once, in MindSpore's words. Prints the CPU seconds of
the second step; the first one compiles.
"""

from __future__ import annotations

import importlib
import sys
import time
from typing import Any

import numpy as np

package = importlib.import_module(sys.argv[1])
nn, ops, Tensor = package.nn, package.ops, package.Tensor
random = np.random.default_rng(0)


def alexnet() -> Any:
    """227 x 227, two images."""
    convolutions = [(3, 96, 11, 4, "valid"), (96, 256, 5, 1, "same"), (256, 384, 3, 1, "same"),
                    (384, 384, 3, 1, "same"), (384, 256, 3, 1, "same")]  # fmt: skip
    cells: list[Any] = []
    for at, (given, wanted, kernel, stride, mode) in enumerate(convolutions):
        cells += [nn.Conv2d(given, wanted, kernel, stride, pad_mode=mode), nn.ReLU()]
        if at in (0, 1, 4):
            cells.append(nn.MaxPool2d(3, 2))
    cells += [nn.Flatten(), nn.Dense(9216, 4096), nn.ReLU(), nn.Dense(4096, 4096), nn.ReLU(), nn.Dense(4096, 10)]
    return nn.SequentialCell(*cells)


class Residual(nn.Cell):  # type: ignore[misc, name-defined]
    """Two 3 x 3 convolutions beside a shortcut."""

    def __init__(self, given: int, wanted: int, stride: int) -> None:
        super().__init__()
        self.main = nn.SequentialCell(
            nn.Conv2d(given, wanted, 3, stride, pad_mode="pad", padding=1), nn.BatchNorm2d(wanted), nn.ReLU(),
            nn.Conv2d(wanted, wanted, 3, 1, pad_mode="pad", padding=1), nn.BatchNorm2d(wanted),
        )  # fmt: skip
        self.relu = nn.ReLU()
        self.is_same = stride == 1 and given == wanted
        self.short = nn.SequentialCell(nn.Conv2d(given, wanted, 1, stride), nn.BatchNorm2d(wanted))

    def construct(self, x: Any) -> Any:
        return self.relu(self.main(x) + (x if self.is_same else self.short(x)))


class Mean(nn.Cell):  # type: ignore[misc, name-defined]
    """Over both axes of the images."""

    def construct(self, x: Any) -> Any:
        return ops.mean(x, (2, 3))


def resnet18() -> Any:
    """64 x 64, four images."""
    cells = [nn.Conv2d(3, 64, 7, 2, pad_mode="pad", padding=3), nn.BatchNorm2d(64), nn.ReLU()]
    cells.append(nn.MaxPool2d(3, 2, pad_mode="same"))
    given = 64
    for wanted, stride in ((64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1)):
        cells.append(Residual(given, wanted, stride))
        given = wanted
    return nn.SequentialCell(*cells, Mean(), nn.Dense(512, 10))


class Last(nn.Cell):  # type: ignore[misc, name-defined]
    """Two layers of LSTM, and a classifier of the last state."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm, self.dense = nn.LSTM(128, 256, num_layers=2, batch_first=True), nn.Dense(256, 10)

    def construct(self, x: Any) -> Any:
        return self.dense(self.lstm(x)[0][:, -1])


#: network, shape of its data
NETWORKS = {
    "alexnet": (alexnet, (2, 3, 227, 227)),
    "resnet18": (resnet18, (4, 3, 64, 64)),
    "lstm": (Last, (16, 32, 128)),
}


def main(name: str) -> None:
    make, shape = NETWORKS[name]
    network = make()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Momentum(network.trainable_params(), 0.01, 0.9)
    step = nn.TrainOneStepCell(nn.WithLossCell(network, loss), optimizer)
    step.set_train()
    data = Tensor(random.standard_normal(shape).astype(np.float32))
    labels = Tensor(random.integers(0, 10, shape[0]).astype(np.int32))
    step(data, labels).asnumpy()
    before = time.process_time()
    step(data, labels).asnumpy()
    print(time.process_time() - before)


if __name__ == "__main__":
    package.set_context(mode=0, device_target="CPU")
    main(sys.argv[2])
