"""Gradients that are zeros, behind each operator that hands them on; of parts of a tensor that is split in a cell."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.arange(1, 13, dtype=np.float32).reshape(2, 6) / 8)
places = Tensor(np.int32([1, 0]))


def argmax(x):
    return ops.argmax(ops.exp(x), 1).astype(ms.float32)


def argmax_with_value(x):
    return ops.max(ops.exp(x), 1)[1].astype(ms.float32)


def ceil(x):
    return ops.ceil(ops.exp(x))


def rounded(x):
    return ops.round(ops.exp(x))


def sign(x):
    return ops.sign(ops.exp(x))


def less(x):
    return (ops.exp(x) < ops.sin(x)).astype(ms.float32)


def less_equal(x):
    return (ops.exp(x) <= ops.sin(x)).astype(ms.float32)


def greater(x):
    return (ops.exp(x) > ops.sin(x)).astype(ms.float32)


def greater_equal(x):
    return (ops.exp(x) >= ops.sin(x)).astype(ms.float32)


def equal(x):
    return (ops.exp(x) == ops.sin(x)).astype(ms.float32)


def not_equal(x):
    return (ops.exp(x) != ops.sin(x)).astype(ms.float32)


def negated(x):
    return ops.logical_not(ops.exp(x).astype(ms.bool_)).astype(ms.float32)


def both(x):
    return ops.logical_and(ops.exp(x).astype(ms.bool_), ops.sin(x).astype(ms.bool_)).astype(ms.float32)


def either(x):
    return ops.logical_or(ops.exp(x).astype(ms.bool_), ops.sin(x).astype(ms.bool_)).astype(ms.float32)


def finite(x):
    return ops.isfinite(ops.exp(x)).astype(ms.float32)


def infinite(x):
    return ops.isinf(ops.exp(x)).astype(ms.float32)


def not_a_number(x):
    return ops.isnan(ops.exp(x)).astype(ms.float32)


def floor_divided(x):
    return ops.floor_divide(ops.exp(x), ops.sin(x))


def ones(x):
    return ops.ones_like(ops.exp(x))


def one_hot(x):
    return ops.one_hot(ops.exp(x).astype(ms.int32), 3, 1.0, 0.0)


def gathered(x):
    return ops.gather(ops.sign(ops.exp(x)), places, 0)


def chosen(x):
    return ops.where(ops.exp(x) > 1.5, ops.sign(ops.exp(x)), ops.ceil(ops.sin(x)))


def relu_of_zeros(x):
    return ops.relu(ops.sign(ops.exp(x)))


class Of(nn.Cell):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def construct(self, x):
        return self.function(x)


class Joined(nn.Cell):
    """The gradient of what joins two parts takes it apart again; of that gradient each part is used twice."""

    def construct(self, x, y):
        return ops.exp(ops.cat((x, y), 0))


class Slopes(nn.Cell):
    def __init__(self):
        super().__init__()
        self.joined = Joined()

    def construct(self, x, y):
        first, second = ops.grad(self.joined, (0, 1))(x, y)
        return first * ops.exp(first) + second * ops.sin(second)


class SlopesInside(nn.Cell):
    def __init__(self):
        super().__init__()
        self.slopes = Slopes()

    def construct(self, x, y):
        return ops.exp(self.slopes(ops.tanh(x), y))


for function in (
    argmax, argmax_with_value, ceil, rounded, sign, less, less_equal, greater, greater_equal, equal, not_equal, negated,
    both, either, finite, infinite, not_a_number, floor_divided, ones, one_hot, gathered, chosen, relu_of_zeros,
):  # fmt: skip
    ms.grad(Of(function))(x)
ms.grad(SlopesInside(), (0, 1))(x, x * 2)
