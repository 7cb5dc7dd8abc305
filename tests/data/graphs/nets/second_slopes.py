"""Gradients of gradients of layers and functions whose gradient is an operator of its own."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.linspace(-1, 1, 20, dtype=np.float32).reshape(5, 4) ** 2)


class First(nn.Cell):
    def __init__(self, norm):
        super().__init__()
        self.norm = norm

    def construct(self, x):
        return ops.tanh(self.norm(x))


class Force(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def construct(self, x):
        return ms.grad(self.net)(x).square().sum()


def train(norm, training):
    net = Force(First(norm))
    step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.1))
    step.set_train(training)
    step(x)


train(nn.LayerNorm((4,)), True)
train(nn.LayerNorm((4,), epsilon=0.1), True)
train(nn.BatchNorm1d(4), False)


def sine(x):
    return ops.asinh(x).sum()


def cosine(x):
    return ops.acosh(x).sum()


def sine_slope(x):
    return ms.grad(sine)(x).square().sum()


def cosine_slope(x):
    return ms.grad(cosine)(x).square().sum()


class Sine(nn.Cell):
    def construct(self, x):
        return ms.grad(sine_slope)(x)


class Cosine(nn.Cell):
    def construct(self, x):
        return ms.grad(cosine_slope)(x)


Sine()(x)
Cosine()(x + 1.5)
