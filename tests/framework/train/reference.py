"""The small training whose losses the real MindSpore gave (``tests/data/train/train_reference.json``)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from harness import nn
from harness.framework.dataset import Dataset, GeneratorDataset
from harness.framework.tensor import Tensor
from harness.framework.train import Model

DATA = Path(__file__).parents[2] / "data" / "train"
FACTS: dict[str, Any] = json.loads((DATA / "train_reference.json").read_text(encoding="utf-8"))


def dataset(batch: int = 4, rows: int = 12) -> Dataset:
    """Rows of data (3,) and a label, in batches: three of four rows."""

    def source() -> Any:
        for x, y in list(zip(FACTS["x"], FACTS["y"], strict=True))[:rows]:
            yield np.array(x, np.float32), np.array(y, np.int32)

    return GeneratorDataset(source, ["data", "label"], shuffle=False).batch(batch)


def network() -> nn.Dense:
    """The network, with the weights the reference starts from."""
    net = nn.Dense(3, 2)
    net.weight.set_data(Tensor(np.array(FACTS["W0"], np.float32)))
    net.bias.set_data(Tensor(np.array(FACTS["b0"], np.float32)))
    return net


def model(metrics: Any = None, **more: Any) -> Model:
    """The reference's model."""
    net = network()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    return Model(net, loss, nn.Momentum(net.trainable_params(), 0.1, 0.9), metrics=metrics, **more)
