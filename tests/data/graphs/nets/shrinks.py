"""Gradients of functions that shrink, in a cell: they stand in ``Default``; of functions that broadcast there;
of what is taken apart, all constants."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.arange(1, 13, dtype=np.float32).reshape(2, 6) / 8)
row = Tensor(np.arange(1, 7, dtype=np.float32) / 8)


class Inner(nn.Cell):
    def construct(self, x, row):
        return ops.softshrink(x) * ops.hardshrink(x) * ops.broadcast_to(input=ops.exp(row), shape=(2, 6))


class ByMethod(nn.Cell):
    def construct(self, x, row):
        return x * ops.exp(row).expand_as(x)


class BothWays(nn.Cell):
    def construct(self, x, row):
        there = ops.broadcast_to(ops.sin(row), (2, 6))
        return x * there * ops.broadcast_to(input=ops.exp(row), shape=(2, 6)) * ops.cos(row).expand_as(x)


class Unstacked(nn.Cell):
    def construct(self, x, row):
        first, second = ops.unstack(x)
        return (first * 2.0 + second * 3.0) * 0.5 + row


class Split(nn.Cell):
    def construct(self, x, row):
        first, second = ops.split(x, 3, 1)
        return (first * 2.0 + second * 3.0) * 0.5


class Net(nn.Cell):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def construct(self, x, row):
        return self.inner(ops.exp(x), ops.tanh(row))


for inner in (Inner(), ByMethod(), BothWays()):
    ms.grad(Net(inner), (0, 1))(x, row)
for inner in (Unstacked(), Split()):
    ms.grad(inner)(x, row)
