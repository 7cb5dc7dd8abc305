"""Inputs and training loops of the scripts here."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_device("CPU")


def data(*shape, seed=0):
    """Random numbers."""
    return Tensor(np.random.RandomState(seed).randn(*shape).astype(np.float32))


def labels(*shape, classes, seed=0):
    """Random labels."""
    return Tensor(np.random.RandomState(seed).randint(0, classes, shape).astype(np.int32))


def train(net, loss, optimizer, x, y, steps=2):
    """Trains on one batch."""
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer)
    step.set_train()
    for _ in range(steps):
        print(step(x, y))
