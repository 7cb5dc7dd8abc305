"""Gradients of functions, compiled functions, steps in PyNative mode."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
y = Tensor(np.full((2, 3), 2, np.float32))


def product(a, b):
    return ops.tanh(a) * b


def total(a, b):
    return (ops.tanh(a) * b).sum()


def pair(a, b):
    return (a * b).sum(), a + b


@ms.jit
def step(a, b):
    return ms.value_and_grad(total, (0, 1))(a, b)


@ms.jit
def plain(a, b):
    return product(a, b) + a


ms.grad(product)(x, y)
ms.value_and_grad(total, (0, 1))(x, y)
ms.value_and_grad(pair, 0, has_aux=True)(x, y)
step(x, y)
plain(x, y)
plain(x, 2)

network = nn.Dense(3, 2)
loss = nn.MSELoss()


def forward(a, b):
    return loss(network(a), b)


ms.value_and_grad(forward, None, network.trainable_params())(x, Tensor(np.ones((2, 2), np.float32)))
