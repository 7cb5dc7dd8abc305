"""Sums of gradients that are contributions to another sum: which become part of it."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.linspace(0.1, 0.5, 6, dtype=np.float32).reshape(2, 3))


class First(nn.Cell):
    def construct(self, x):
        z = x + 1.0
        return (ops.exp(z) + ops.sin(z) + ops.cos(x) + ops.tan(x)).sum()


class Last(nn.Cell):
    def construct(self, x):
        z = x + 1.0
        return (ops.cos(x) + ops.tan(x) + ops.exp(z) + ops.sin(z)).sum()


class Between(nn.Cell):
    def construct(self, x):
        a = ops.cos(x)
        z = x + 1.0
        return (a + ops.exp(z) + ops.sin(z) + ops.tan(x)).sum()


class FirstTwo(nn.Cell):
    def construct(self, x):
        z = x + 1.0
        y = x + 2.0
        return (ops.exp(z) + ops.sin(z) + ops.exp(y) + ops.sin(y) + ops.cos(x)).sum()


class OnlyTwo(nn.Cell):
    def construct(self, x):
        z = x + 1.0
        y = x + 2.0
        return (ops.exp(z) + ops.sin(z) + ops.exp(y) + ops.sin(y)).sum()


class LastTwo(nn.Cell):
    def construct(self, x):
        z = x + 1.0
        y = x + 2.0
        return (ops.cos(x) + ops.exp(z) + ops.sin(z) + ops.exp(y) + ops.sin(y)).sum()


class FirstOfThree(nn.Cell):
    def construct(self, x):
        z = x + 1.0
        return (ops.exp(z) + ops.sin(z) + ops.cos(z) + ops.cos(x) + ops.tan(x)).sum()


class LastOfFour(nn.Cell):
    def construct(self, x):
        z = x + 1.0
        return (ops.cos(x) + ops.tan(x) + ops.sin(x) + ops.exp(z) + ops.sin(z)).sum()


class ThirdOfFour(nn.Cell):
    def construct(self, x):
        z = x + 1.0
        return (ops.cos(x) + ops.tan(x) + ops.exp(z) + ops.sin(z) + ops.sin(x)).sum()


class Chain(nn.Cell):
    def construct(self, x):
        z = x + 1.0
        y = z + 1.0
        return (ops.exp(y) + ops.sin(y) + ops.cos(z) + ops.cos(x)).sum()


class ChainLast(nn.Cell):
    def construct(self, x):
        z = x + 1.0
        y = z + 1.0
        return (ops.cos(x) + ops.cos(z) + ops.exp(y) + ops.sin(y)).sum()


class ChainBoth(nn.Cell):
    def construct(self, x):
        z = x + 1.0
        y = z + 1.0
        return (ops.cos(x) + ops.exp(y) + ops.sin(y) + ops.cos(z)).sum()


for net in (
    First, Last, Between, FirstTwo, OnlyTwo, LastTwo, FirstOfThree, LastOfFour, ThirdOfFour, Chain, ChainLast,
    ChainBoth,
):  # fmt: skip
    ms.grad(net())(x)
