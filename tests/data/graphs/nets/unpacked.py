"""Operators of several results: where the gradients of a result that is used twice are summed."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore import numpy as mnp

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4))


class Of(nn.Cell):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def construct(self, x):
        return self.function(x)


class Gradient(nn.Cell):
    def __init__(self, function, by_value):
        super().__init__()
        self.net = Of(function)
        self.grad = ops.GradOperation()
        self.by_value = by_value

    def construct(self, x):
        if self.by_value:
            return ops.value_and_grad(self.net)(x)
        return self.grad(self.net)(x)


def one_used(x):
    a, _b = ops.split(x, 2, 1)
    return a * ops.exp(a)


def both_used(x):
    a, b = ops.split(x, 2, 1)
    return a * ops.exp(a) + b


def both_used_twice(x):
    a, b = ops.split(x, 2, 1)
    return a * ops.exp(a) + b * ops.sin(b)


def used_three_times(x):
    a, b, _c, d = ops.chunk(x, 4, 1)
    return a * ops.exp(a) + ops.sin(a) + b * d


def without_gradient(x):
    a, b = ops.split(x, 2, 1)
    return a * ops.exp(a) + ops.stop_gradient(b)


def chosen(x):
    values, places = ops.topk(x, 2)
    return values * ops.exp(values) + places.astype(ms.float32)


def sorted_only(x):
    values, _places = ops.sort(x)
    return values * ops.exp(values)


def unstacked(x):
    a, b, c = ops.unstack(x)
    return a * b + a * c + b * c


def unstacked_in_another_order(x):
    a, b, c = ops.unstack(x)
    return b * c + ops.exp(b) + c * a + ops.sin(c) * a


def four_used_twice(x):
    a, b, c, d = ops.split(x, 1, 1)
    return d * ops.exp(d) + b * ops.exp(b) + a * ops.exp(a) + c * ops.exp(c)


def largest(x):
    value, place = ops.max(x, 1)
    return value * ops.exp(value) + ops.sin(value) + place


def deviations(x):
    deviation, mean = ops.std_mean(x, 1)
    return deviation * ops.exp(deviation) + mean * ops.sin(mean)


def rolled(x):
    return mnp.roll(x, (-1, 2), (0, 1)) * x


def rolled_once(x):
    return mnp.roll(x, 1, -2) * mnp.roll(x, 5)


FUNCTIONS = (
    one_used,
    both_used,
    both_used_twice,
    used_three_times,
    without_gradient,
    chosen,
    sorted_only,
    unstacked,
    unstacked_in_another_order,
    four_used_twice,
    largest,
    deviations,
    rolled,
    rolled_once,
)
for function in FUNCTIONS:
    for by_value in (False, True):
        Gradient(function, by_value)(x)
