"""Decorators with ``functools.wraps``: the parser reads the function within, wherever it is called."""

import functools

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.arange(8, dtype=np.float32).reshape(2, 4) / 8)


def doubled(function):
    @functools.wraps(function)
    def wrapper(*values, **more):
        return function(*values, **more) * 2

    return wrapper


def scaled(factor):
    def make(function):
        @functools.wraps(function)
        def wrapper(self, value):
            return ops.tanh(function(self, value)) * factor

        return wrapper

    return make


def plain(function):
    def wrapper(value):
        return ops.exp(function(value))

    return wrapper


@doubled
@doubled
def shifted(value):
    return value + 1


@plain
def squared(value):
    return value * value


def above(offset):
    @doubled
    def inner(value):
        return ops.relu(value - offset)

    return inner


class Layer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(4, 4)
        self.fc.weight.set_data(Tensor(np.linspace(-1, 1, 16, dtype=np.float32).reshape(4, 4)))

    @doubled
    def helped(self, value):
        return ops.sigmoid(self.fc(value))

    @scaled(3)
    def construct(self, value):
        return self.helped(value) - squared(value)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layer = Layer()
        self.above = above(0.25)

    @doubled
    def construct(self, value):
        made = doubled(shifted)  # a function that the graph itself makes runs as written
        return self.above(self.layer(shifted(value))) + made(value)


net = Net()


def loss(value):
    return shifted(net(value)).sum()


print(net(x))
print(ms.value_and_grad(loss, None, net.trainable_params())(x))
print(ms.jit(doubled(shifted))(x))
