"""Functions first called in Default: all calls but the last that is put in stand where they are called. And what names
its axes from the front, ``Squeeze``, and lets rows be counted, the gradient of ``TopK``."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 4))


class Inner(nn.Cell):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def construct(self, x):
        return self.function(x)


class Block(nn.Cell):
    def __init__(self, function):
        super().__init__()
        self.function = function
        self.inner = Inner(function)

    def construct(self, x):
        x = ops.exp(self.function(x))
        return self.inner(x) + self.function(x)


class Net(nn.Cell):
    def __init__(self, function):
        super().__init__()
        self.function = function
        self.first, self.second = Block(function), Block(function)

    def construct(self, x):
        x = x * self.function(x)
        return self.first(x) + self.second(ops.sin(x))


def mean(x):
    return x - x.mean(0)


def relu(x):
    return ops.relu(x)


def amax(x):
    return ops.amax(x, 1, True) + x


def maximum(x):
    return x.max(1, True) + x


def minimum(x):
    return ops.min(x, 1)[0].expand_dims(1) + x


def total(x):
    return x * x.sum(0)


def padded(x):
    return ops.pad(x, (0, 1))[:, :4]


def halves(x):
    return x + ops.chunk(x, 2, 1)[0].sum()


def squeezed(x):
    return ops.squeeze(x)


def some(x):
    return x + x.any(0)


def lowest(x):
    return x + x.argmin(0)


def products(x):
    return x.matmul(x.T) @ x + ops.softmax(x, -1)


for function in (mean, relu, amax, maximum, minimum, total, padded, halves, squeezed, some, lowest, products):
    Net(function)(x)


class Scaled(nn.Cell):
    def construct(self, x):
        return x * x.square().mean(-1, keep_dims=True)


class Twice(nn.Cell):
    def construct(self, x):
        return x * x.mean((0, 1)) * x.exp().mean((0, 1)) * x.sum((0, 1)) * x.exp().sum((0, 1))


class Squeezed(nn.Cell):
    def construct(self, x):
        y = x[:, 3:]
        x = x * (y.squeeze(1) + y.squeeze(-1) + ops.squeeze(y)).sum()
        a = ops.Squeeze(-1)(x[:, :1]) * ops.squeeze(x[:, 1:2], -1) * ops.Squeeze()(x[:, 2:3])
        return ops.topk(x.reshape(2, 2, 2), 2)[0].sum() + (ops.topk(x, 2)[0] * a.expand_dims(1)).sum()


class Trained(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4, 4, weight_init="ones")
        self.scaled, self.twice, self.squeezed = Scaled(), Twice(), Squeezed()

    def construct(self, x):
        return self.squeezed(self.twice(self.scaled(self.dense(x))))


net = Trained()
nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.1)).set_train()(x)
