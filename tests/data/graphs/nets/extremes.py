"""Gradients of several extremes along axes: each begins with zeros of its own."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
data = Tensor(np.arange(12, dtype=np.float32).reshape(3, 4) / 8)


def twice(x):
    return x.max(1) + (x * 2).max(1)


def both(x):
    return x.max(axis=1) - x.min(axis=1)


def functions(x):
    return ops.max(x, 1)[0] - ops.min(x, 1)[0]


def across(x):
    return x.max(axis=1).sum() * x.min(axis=0)


class Gradient(nn.Cell):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def construct(self, x):
        return ms.grad(self.function)(x)


for function in (twice, both, functions, across):
    Gradient(function)(data)
