"""Gradients of equal blocks behind each other, of weights that a fixed choice hands on, and of a cell beside them."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, ParameterTuple, Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4))


class Scaled(nn.Cell):
    """A weight, and a choice behind it."""

    def __init__(self, chosen):
        super().__init__()
        self.weight = Parameter(Tensor(np.full((1, 2, 3, 4), 0.5, np.float32)), name="weight")
        self.chosen = chosen
        self.exp = ops.Exp()

    def construct(self, x):
        y = x * self.weight
        if self.chosen:
            y = self.exp(y)
        return y


class Deep(nn.Cell):
    """A Tanh within cells."""

    def __init__(self, depth):
        super().__init__()
        self.inner = Deep(depth - 1) if depth else nn.Tanh()

    def construct(self, x):
        return self.inner(x)


class Beside(nn.Cell):
    """Two blocks behind each other, and a Tanh beside them."""

    def __init__(self, depth, first, second):
        super().__init__()
        self.first, self.second, self.beside = nn.SequentialCell(*first), nn.SequentialCell(*second), Deep(depth)

    def construct(self, x):
        return self.second(self.first(x)) + self.beside(x)


class Chain(nn.Cell):
    """Blocks behind each other."""

    def __init__(self, *blocks):
        super().__init__()
        self.blocks = nn.SequentialCell([nn.SequentialCell(*block) for block in blocks])

    def construct(self, x):
        return self.blocks(x).mean((2, 3))


class Gradients(nn.Cell):
    """Gradients of all weights."""

    def __init__(self, net):
        super().__init__()
        self.net = net
        self.weights = ParameterTuple(net.trainable_params())
        self.gradient = ops.GradOperation(get_by_list=True)

    def construct(self, x):
        return self.gradient(self.net, self.weights)(x)


def conv():
    return nn.Conv2d(2, 2, 1, weight_init="ones")


for depth in (4, 5, 6, 7):
    Gradients(Beside(depth, (Scaled(False), nn.Tanh()), (Scaled(True), nn.ReLU())))(x)
    Gradients(Beside(depth, (Scaled(True), nn.ReLU()), (Scaled(False), nn.Tanh())))(x)
    Gradients(Beside(depth, (conv(), nn.Tanh()), (conv(), nn.ReLU())))(x)
Gradients(Chain((conv(), nn.ReLU()), (conv(), nn.ReLU())))(x)
Gradients(Chain((conv(), nn.BatchNorm2d(2), nn.ReLU()), (conv(), nn.BatchNorm2d(2), nn.ReLU()), (conv(), nn.ReLU())))(x)
Gradients(Chain((conv(), nn.HSwish()), (conv(), nn.BatchNorm2d(2), nn.HSwish())))(x)
