"""Sums of two, one reduced over ranks, in the graph of a cell and in that of a jit function."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops
from mindspore.communication import get_rank, init
from said import said

ms.set_context(mode=ms.GRAPH_MODE, device_target="CPU")
init()
reduce, addn, mul, half = ops.AllReduce(), ops.AddN(), ops.Mul(), Tensor(0.5, ms.float32)


def drawn(seed):
    return Tensor((np.random.default_rng(10 * seed + get_rank()).integers(-8, 9, 3) / 4).astype(np.float32))


x, y, z = drawn(1), drawn(2), drawn(3)
weight = Parameter(drawn(4), name="weight")


def mean(x):
    return mul(reduce(x), half)


def of_weight(x, y, z):
    ops.assign(weight, y)
    return addn((mul(weight, half), mean(x)))


def used_again(x, y, z):
    product = mean(x)
    return addn((product, z)), product, (product, product + 1), ops.stack((product, x))


def used_by_both(x, y, z):
    product = mean(x)
    return addn((product, z)), addn((product, y))


def of_sum(x, y, z):
    return addn((mean(addn((mean(x), z))), y))


def first(x, y, z):
    return addn((mean(x), z))


def last(x, y, z):
    return addn((z, mul(half, reduce(x))))


def factor(x, y, z):
    return addn((mul(reduce(x), y), z))


def factor_reduced(x, y, z):
    return addn((mul(reduce(x), reduce(y)), z))


def two_factors(x, y, z):
    return addn((mul(mean(x), half), z))


def a_tensor_between(x, y, z):
    return addn((mul(mean(x), y), z))


def relu_between(x, y, z):
    return addn((mul(ops.relu(reduce(x)), half), z))


def three(x, y, z):
    return addn((z, mean(x), y))


def add(x, y, z):
    return ops.add(mean(x), z)


def number(x, y, z):
    return addn((reduce(x) * 0.5, z))


def both(x, y, z):
    return addn((mean(x), mean(y)))


def twice(x, y, z):
    return addn((mean(x), mean(x)))


def sum_of_sums(x, y, z):
    return addn((mul(reduce(x), half), addn((z, y))))


def larger(x, y, z):
    return addn((mul(reduce(x), ops.stack((y, z))), ops.stack((z, y))))


def gathered(x, y, z):
    return addn((mul(ops.AllGather()(x)[:3], half), z))


CALLS = (
    first,
    last,
    factor,
    factor_reduced,
    two_factors,
    a_tensor_between,
    relu_between,
    three,
    add,
    number,
    both,
    twice,
    sum_of_sums,
    larger,
    gathered,
    of_weight,
    used_again,
    used_by_both,
    of_sum,
)


class Net(nn.Cell):
    def __init__(self, call):
        super().__init__()
        self.call = call

    def construct(self, x, y, z):
        return self.call(x, y, z)


for call in CALLS:
    said(call.__name__, Net(call)(x, y, z))
    said(f"{call.__name__}, jit", ms.jit(call)(x, y, z))
