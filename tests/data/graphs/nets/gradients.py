"""Gradients: where their nodes stand, the order of sums, what does not flow."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
y = Tensor(np.full((2, 3), 2, np.float32))
row = Tensor(np.ones(3, np.float32))


def run(function, *inputs, get_all=True, get_by_list=False):
    """The gradient of a cell that computes ``function``, run once."""

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor(np.ones((2, 3), np.float32)), name="w")
            self.relu = nn.ReLU()
            self.tanh = nn.Tanh()

        def construct(self, *inputs):
            return function(self, *inputs)

    class Gradient(nn.Cell):
        def __init__(self, net):
            super().__init__()
            self.net = net
            self.grad = ops.GradOperation(get_all=get_all, get_by_list=get_by_list)
            self.weights = ms.ParameterTuple(net.trainable_params())

        def construct(self, *inputs):
            if get_by_list:
                return self.grad(self.net, self.weights)(*inputs)
            return self.grad(self.net)(*inputs)

    Gradient(Net())(*inputs)


def one(net, x):
    return net.relu(x)


def total(net, x):
    return net.relu(x).sum()


def used_twice(net, x, y):
    return (x * y) * x + x


def weight_used_three_times(net, x, y):
    return net.tanh(x * net.w) + net.w * y + net.w


def equal_primitives_in_two_places(net, x, y):
    return net.relu(net.tanh(x)) + net.tanh(net.relu(x))


def shared_value(net, x, y):
    product = x * y
    return net.relu(product) + net.tanh(product) + product


def broadcast(net, x, row):
    return (x + row) * row, x - row, x / (row + 2)


def reductions(net, x):
    return x.sum(0), x.mean(1), ops.ReduceSum(keep_dims=True)(x, 1)


def pieces(net, x):
    first, second, third = ops.split(x, 1, 1)
    return ops.concat((first * 2, third), 1) * second


def not_used(net, x, y):
    return ops.exp(x)


def integers_between(net, x):
    return x * ops.cast(ops.cast(x, ms.int32), ms.float32)


def stopped(net, x):
    return x * ops.stop_gradient(ops.exp(x))


run(one, x)
run(total, x)
run(used_twice, x, y)
run(weight_used_three_times, x, y, get_by_list=True)
run(equal_primitives_in_two_places, x, y)
run(shared_value, x, y)
run(broadcast, x, row)
run(reductions, x)
run(pieces, x)
run(not_used, x, y, get_all=False)
run(integers_between, x)
run(stopped, x)
