"""Casts, products, sums, tuples and constants: what the compiler merges, cancels or keeps apart."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3) + 1)
y = Tensor(np.full((2, 3), 2, np.float32))
half = Tensor(np.arange(6, dtype=np.float16).reshape(2, 3) + 1)
whole = Tensor(np.arange(6, dtype=np.int32).reshape(2, 3) + 1)
double = Tensor(np.arange(6, dtype=np.float64).reshape(2, 3))
mask = Tensor([[True, False, True], [False, True, False]])
some = Tensor(np.full((2, 3), 0.5, np.float32))
three = Tensor(3.0)


def run(function, *inputs, differentiated=None):
    """A cell that computes ``function``, run once; with the gradients of some inputs if they are named."""

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.relu = nn.ReLU()

        def construct(self, *inputs):
            return function(self, *inputs)

    net = Net()
    if differentiated is None:
        net(*inputs)
        return
    gradients = ms.value_and_grad(net, differentiated, None)

    @ms.jit
    def step(*inputs):
        return gradients(*inputs)

    step(*inputs)


def products(net, x):
    return some * (some * x)


def products_right(net, x):
    return (x * some) * some


def products_of_two_shapes(net, x):
    return three * (some * x)


def product_and_number(net, x):
    return (x * some) * 3


def inner_product_used(net, x):
    a = x * some
    return a, a * some


def stack_unstacked(net, x, y):
    return ops.unstack(ops.stack((x, y)))


def stack_unstacked_inside(net, x, y):
    a, b = ops.unstack(ops.stack((x, y), 1), 1)
    return a * b


def stack_unstacked_elsewhere(net, x, y):
    a, b, c = ops.unstack(ops.stack((x, y), 0), 2)
    return a * b * c


def stack_used(net, x, y):
    s = ops.stack((x, y))
    a, _ = ops.unstack(s)
    return a, s


def sum_in_sum(net, x, y):
    return ops.addn((ops.addn((x, y)), x * 2))


def sum_behind(net, x, y):
    return ops.addn((x * 2, ops.addn((x, y))))


def sum_used(net, x, y):
    a = ops.addn((x, y))
    return ops.addn((x * 2, a)), a


def sums_in_four(net, x, y):
    return ops.addn((x * 2, ops.addn((x, y)), ops.addn((y, x)), y))


def sum_in_sum_in_sum(net, x, y):
    return ops.addn((ops.addn((x, ops.addn((x, y)))), x * 2))


def casts_of_two_kinds(net, i):
    return i.astype(ms.float32), i + Tensor(1.5), i.astype(ms.float32) * 2


def implicit_casts(net, i, x):
    return i + x, i * 1.5, ops.cast(i, ms.float32), ops.sub(i, x)


def zeros_and_ones(net, x):
    return (
        ops.zeros_like(x) + ops.ones_like(x),
        ops.ones_like(x) * x,
        ops.zeros_like(x) * 2,
        ops.zeros((2, 3), ms.float32) + 1,
        ops.ones_like(x) - ops.ones_like(x),
        -ops.ones_like(x),
    )


def plus_zeros_like(net, x):
    return x + ops.zeros_like(x)


def plus_zeros(net, x):
    return x * ops.ones((2, 3)), x - ops.zeros_like(x), x + ops.zeros((2, 3))


def filled(net, x):
    return (
        ops.ones((2, 3)) + 1,
        ops.full((2, 3), 2.0, dtype=ms.float32) * 2,
        -ops.zeros_like(x),
        ops.zeros_like(x) + x * 2,
    )


def clipped_ints(net, i):
    return ops.clip_by_value(i, -1.0, 1.0), ops.clip_by_value(i, Tensor(2), Tensor(4)), ops.clamp(i, 1.5, 3.2)


def clipped_halves(net, h):
    return ops.clip_by_value(h, -1.0, 1.0), ops.clip_by_value(h, Tensor(2), Tensor(4))


def clipped(net, x):
    return ops.clip_by_value(x, -1, 1), ops.clip_by_value(x, 2.5, 4)


def filled_half(net, h, m):
    return ops.masked_fill(h, m, 0.5)


def filled_half_method(net, h, m):
    return h.masked_fill(m, 0.5)


def filled_half_by_tensor(net, h, m):
    return ops.masked_fill(h, m, Tensor(0.5, ms.float16))


def filled_double(net, d, m):
    return ops.masked_fill(d, m, 0.5)


def filled_between(net, h, m):
    return ops.masked_fill(h * 2, m, 0.5) * 3


def filled_ints(net, i, m):
    return ops.masked_fill(i, m, 2), i.masked_fill(m, 2)


def pieces_given_back(net, x):
    return ops.split(x, 1, 1)


def filled_gradient(net, h, m):
    return ops.masked_fill(h, m, 0.5) * h


def largest(net, x):
    v, _ = ops.topk(x * 2, 2)
    return v * 2


def largest_along_one(net, x):
    v, _ = ops.topk(x.reshape((3, 2)), 1, 0)
    return v * 3


run(products, x)
run(products_right, x)
run(products_of_two_shapes, x)
run(product_and_number, x)
run(inner_product_used, x)
run(stack_unstacked, x, y)
run(stack_unstacked_inside, x, y)
run(stack_unstacked_elsewhere, x, y)
run(stack_used, x, y)
run(sum_in_sum, x, y)
run(sum_behind, x, y)
run(sum_used, x, y)
run(sums_in_four, x, y)
run(sum_in_sum_in_sum, x, y)
run(casts_of_two_kinds, whole)
run(implicit_casts, whole, x)
run(zeros_and_ones, x)
run(plus_zeros_like, x)
run(plus_zeros, x)
run(filled, x)
run(clipped_ints, whole)
run(clipped_halves, half)
run(clipped, x)
run(filled_half, half, mask)
run(filled_half_method, half, mask)
run(filled_half_by_tensor, half, mask)
run(filled_double, double, mask)
run(filled_between, half, mask)
run(filled_ints, whole, mask)
run(pieces_given_back, x)
run(filled_gradient, half, mask, differentiated=0)
run(largest, x, differentiated=0)
run(largest_along_one, x, differentiated=0)
