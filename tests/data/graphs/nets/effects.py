"""Updates of parameters inside a network, and who waits for whom."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
y = Tensor(np.full((2, 3), 2, np.float32))


def run(function, *inputs):
    """A cell with two parameters that computes ``function``, run once."""

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor(np.ones((2, 3), np.float32)), name="w")
            self.v = Parameter(Tensor(np.ones((2, 3), np.float32)), name="v")

        def construct(self, *inputs):
            return function(self, *inputs)

    Net()(*inputs)


def between_two_updates(net, x, y):
    ops.assign(net.w, x)
    z = net.w + 1
    ops.assign_add(net.w, y)
    return z * net.w


def read_before(net, x):
    z = x * net.w
    ops.assign(net.v, z)
    return z


def nothing_else(net, x):
    ops.assign(net.v, x)
    return x + 1


def two_parameters(net, x, y):
    z = net.w + net.v
    ops.assign(net.w, x)
    ops.assign_sub(net.v, y)
    return z


def waits(net, x, y):
    later = ops.depend(x, ops.assign(net.w, y))
    return later * 2


run(between_two_updates, x, y)
run(read_before, x)
run(nothing_else, x)
run(two_parameters, x, y)
run(waits, x, y)
