"""One training step of a network, in a process of its own: ``python _step_nets.py PACKAGE NETWORK``.

PACKAGE is ``harness`` or ``mindspore``: the networks are written once, with MindSpore's API. Prints the CPU seconds of
the second step (the first one compiles), and how many of the third one numpy's products took.
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


class Block(nn.Cell):  # type: ignore[misc, name-defined]
    """A layer of BERT: attention of 8 heads, two dense layers with GELU, normalised after each."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width
        self.query, self.key, self.value, self.out = (nn.Dense(width, width) for _ in range(4))
        self.wide, self.narrow, self.gelu = nn.Dense(width, 4 * width), nn.Dense(4 * width, width), nn.GELU()
        self.first, self.second, self.softmax = nn.LayerNorm((width,)), nn.LayerNorm((width,)), nn.Softmax()

    def heads(self, x: Any) -> Any:
        return ops.transpose(ops.reshape(x, (4, 64, 8, self.width // 8)), (0, 2, 1, 3))

    def construct(self, x: Any) -> Any:
        query, key, value = self.heads(self.query(x)), self.heads(self.key(x)), self.heads(self.value(x))
        scores = ops.matmul(query, ops.transpose(key, (0, 1, 3, 2))) * 0.125
        seen = ops.transpose(ops.matmul(self.softmax(scores), value), (0, 2, 1, 3))
        x = self.first(x + self.out(ops.reshape(seen, (4, 64, self.width))))
        return self.second(x + self.narrow(self.gelu(self.wide(x))))


class Bert(nn.Cell):  # type: ignore[misc, name-defined]
    """BERT-small: 4 layers of 512, 8 heads; 4 texts of 64 words out of 1,000."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.norm = nn.Embedding(1000, 512), nn.LayerNorm((512,))
        self.blocks, self.out = nn.SequentialCell(*(Block(512) for _ in range(4))), nn.Dense(512, 10)

    def construct(self, x: Any) -> Any:
        return self.out(self.blocks(self.norm(self.words(x)))[:, 0])


def twice(given: int, wanted: int) -> Any:
    """Two convolutions of 3 x 3."""
    cells: list[Any] = []
    for before in (given, wanted):
        cells += [nn.Conv2d(before, wanted, 3, pad_mode="same"), nn.BatchNorm2d(wanted), nn.ReLU()]
    return nn.SequentialCell(*cells)


class UNet(nn.Cell):  # type: ignore[misc, name-defined]
    """Three heights of 32, 64 and 128 channels, and the mean of each of 10 channels; 2 images of 64 x 64."""

    def __init__(self) -> None:
        super().__init__()
        self.high, self.middle, self.low = twice(3, 32), twice(32, 64), twice(64, 128)
        self.pool = nn.MaxPool2d(2, 2)
        self.up, self.further = nn.Conv2dTranspose(128, 64, 2, 2), nn.Conv2dTranspose(64, 32, 2, 2)
        self.joined, self.last = twice(128, 64), twice(64, 32)
        self.out, self.mean = nn.Conv2d(32, 10, 1), Mean()

    def construct(self, x: Any) -> Any:
        high = self.high(x)
        middle = self.middle(self.pool(high))
        up = self.joined(ops.concat((middle, self.up(self.low(self.pool(middle)))), 1))
        return self.mean(self.out(self.last(ops.concat((high, self.further(up)), 1))))


class Three(nn.Cell):  # type: ignore[misc, name-defined]
    """Three convolutions of 32 channels with batch normalisation; 8 images of 32 x 32."""

    def __init__(self) -> None:
        super().__init__()
        cells: list[Any] = []
        for given in (3, 32, 32):
            cells += [nn.Conv2d(given, 32, 3, pad_mode="same"), nn.BatchNorm2d(32), nn.ReLU()]
        self.body, self.mean, self.out = nn.SequentialCell(*cells), Mean(), nn.Dense(32, 10)

    def construct(self, x: Any) -> Any:
        return self.out(self.mean(self.body(x)))


#: network, its data
NETWORKS = {
    "alexnet": (alexnet, lambda: drawn(2, 3, 227, 227)),
    "resnet18": (resnet18, lambda: drawn(4, 3, 64, 64)),
    "lstm": (Last, lambda: drawn(16, 32, 128)),
    "bert": (Bert, lambda: random.integers(0, 1000, (4, 64)).astype(np.int32)),
    "unet": (UNet, lambda: drawn(2, 3, 64, 64)),
    "convolutions": (Three, lambda: drawn(8, 3, 32, 32)),
}


def drawn(*shape: int) -> Any:
    """Normal numbers."""
    return random.standard_normal(shape).astype(np.float32)


def main(name: str) -> None:
    make, given = NETWORKS[name]
    network = make()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Momentum(network.trainable_params(), 0.01, 0.9)
    step = nn.TrainOneStepCell(nn.WithLossCell(network, loss), optimizer)
    step.set_train()
    values = given()
    data, labels = Tensor(values), Tensor(random.integers(0, 10, len(values)).astype(np.int32))
    step(data, labels).asnumpy()
    before = time.process_time()
    step(data, labels).asnumpy()
    spent = time.process_time() - before
    blas = counted()
    step(data, labels).asnumpy()
    print(spent, sum(blas))


def counted() -> list[float]:
    """CPU seconds of each of numpy's products from now on."""
    found: list[float] = []
    product: Any = np.matmul

    def timed(*arguments: Any, **options: Any) -> Any:
        before = time.process_time()
        result = product(*arguments, **options)
        found.append(time.process_time() - before)
        return result

    np.matmul = timed  # type: ignore[assignment]
    return found


if __name__ == "__main__":
    package.set_context(mode=0, device_target="CPU")
    main(sys.argv[2])
