"""A gradient of a function that holds a gradient: the outer one keeps the scopes that the inner one looked up."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.linspace(-1, 1, 15, dtype=np.float32).reshape(5, 3))


def height(x):
    return ops.exp(x).sum() * ops.sin(x).sum()


def steepness(x):
    return (ms.grad(height)(x) ** 2).sum()


class Second(nn.Cell):
    def construct(self, x):
        return ms.grad(steepness)(x)


Second()(x)
