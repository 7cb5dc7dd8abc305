"""Reshapes that functions with weights give, read by reshapes outside: two until the gradient is made."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
rng = np.random.RandomState(1)
x = Tensor(rng.randn(2, 4, 4).astype(np.float32))


def weight(name):
    return Parameter(Tensor(rng.randn(4, 4).astype(np.float32)), name=name)


def dense():
    return nn.Dense(4, 4, weight_init="ones", bias_init="zeros")


class Plain(nn.Cell):
    def construct(self, x):
        return ops.exp(x).view(4, 2, 4)


class Weighed(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = weight("w")

    def construct(self, x):
        return ops.matmul(x, self.w).view(4, 2, 4)


class Pair(Weighed):
    def construct(self, x):
        x = ops.matmul(x, self.w)
        return x.view(4, 2, 4), x


class Around(nn.Cell):
    def __init__(self):
        super().__init__()
        self.cell = Weighed()

    def construct(self, x):
        return ops.exp(self.cell(x)).view(4, 2, 4)


class Inner(Weighed):
    def construct(self, x):
        def inside(value):
            return (value * self.w).view(4, 2, 4)

        y = inside(x)
        return ops.sin(y.view(8, 4)) * ops.cos(y.view(8, 4))


class Twice(nn.Cell):
    def __init__(self, cell):
        super().__init__()
        self.w, self.cell = weight("v"), cell

    def construct(self, x):
        y = self.cell(x * self.w)
        return ops.sin(y.view(8, 4)) * ops.cos(y.view(8, 4))


class First(Twice):
    def construct(self, x):
        y = self.cell(x * self.w)[0]
        return ops.sin(y.view(8, 4)) * ops.cos(y.view(8, 4))


class Inline(Twice):
    def construct(self, x):
        y = ops.matmul(x, self.w).view(4, 2, 4)
        return ops.sin(y.view(8, 4)) * ops.cos(y.view(8, 4))


class Within(Twice):
    def construct(self, x):
        return self.cell(x * self.w)


class Projected(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc, self.a, self.b = dense(), dense(), dense()

    def construct(self, x):
        x = self.fc(x)
        return ops.sin(self.a(x)) * ops.exp(self.b(x))


for net in (
    Twice(Plain()), Twice(Weighed()), First(Pair()), Twice(Around()), Within(Inner()), Inline(Plain()), Projected(),
):  # fmt: skip
    ms.grad(net, None, net.trainable_params())(x)
