"""Gradients that are zeros, behind places, masks, what is changed in place, and gradients themselves."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, mint, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.arange(1, 13, dtype=np.float32).reshape(2, 6) / 8)
table = Tensor(np.arange(20, dtype=np.float32).reshape(10, 2) / 8)


def gathered(x):
    return ops.gather(table, ops.exp(x).astype(ms.int32), 0)


def chosen(x):
    return ops.select(ops.exp(x).astype(ms.bool_), ops.ones((2, 6), ms.float32), ops.zeros((2, 6), ms.float32))


def extremes(x):
    return ops.exp(x).argmax_with_value(1)[0]


def like_ones(x):
    return mint.ones_like(ops.exp(x))


def primitive_ones(x):
    return ops.OnesLike()(ops.exp(x))


def like_zeros(x):
    return mint.zeros_like(ops.exp(x))


def divided(x):
    y = ops.exp(x)
    y //= ops.sin(x)
    return y


def divided_by_number(x):
    y = ops.exp(x)
    y //= 2.0
    return y


class Of(nn.Cell):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def construct(self, x):
        return self.function(x)


class Slope(nn.Cell):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def construct(self, x):
        return ops.grad(self.inner)(ops.exp(x))


class Normalised(nn.Cell):
    def __init__(self):
        super().__init__()
        self.norm = ops.LayerNorm(1, 1)
        self.scale, self.shift = Tensor(np.ones(6, np.float32)), Tensor(np.zeros(6, np.float32))

    def construct(self, x):
        return self.norm(x, self.scale, self.shift)[0]


class OfBatch(nn.Cell):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(6).set_train()

    def construct(self, x):
        return self.norm(x)


class Positive(nn.Cell):
    def construct(self, x):
        return ops.relu(x)


for function in (gathered, chosen, extremes, like_ones, primitive_ones, like_zeros, divided, divided_by_number):
    ms.grad(Of(function))(x)
for inner in (Normalised(), OfBatch(), Positive()):
    ms.grad(Slope(inner))(x)
