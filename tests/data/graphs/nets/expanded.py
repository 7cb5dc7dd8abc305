"""Gradients of functions whose operator is taken apart, called in two cells; of methods that stand in them."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.arange(9, dtype=np.float32).reshape(3, 3) / 8)


class Products(nn.Cell):
    def construct(self, x):
        return ops.matmul(x, x)


class ProductsOfMethods(nn.Cell):
    def construct(self, x):
        return x.matmul(x)


class Clamped(nn.Cell):
    def construct(self, x):
        return ops.clamp(x, 0.1, 0.9)


class Clipped(nn.Cell):
    def construct(self, x):
        return ops.clip(x, 0.2, 0.8)


class Spreads(nn.Cell):
    def construct(self, x):
        return x * x.var() + ops.logsumexp(x, 1)


class Two(nn.Cell):
    def __init__(self, first, second):
        super().__init__()
        self.first, self.second = first, second

    def construct(self, x):
        return self.second(ops.exp(self.first(x)))


class AlsoOutside(nn.Cell):
    """The same called in ``Default`` first."""

    def __init__(self, function, inner):
        super().__init__()
        self.inner = inner

    def construct(self, x):
        return self.inner(ops.exp(x))


class ProductsOutside(AlsoOutside):
    def construct(self, x):
        return self.inner(ops.matmul(x[:, :2], x[:2]))


class MethodsOutside(AlsoOutside):
    def construct(self, x):
        return self.inner(x[:, :2].matmul(x[:2]))


for net in (
    Two(Products(), ProductsOfMethods()),
    Two(Clamped(), Clipped()),
    ProductsOutside(None, Products()),
    MethodsOutside(None, ProductsOfMethods()),
):
    ms.grad(net)(x)
    net(x)
