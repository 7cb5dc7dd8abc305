"""What the compiler takes out of a graph, and what stays: one small cell for each rule."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
y = Tensor(np.full((2, 3), 2, np.float32))


def run(function, *inputs):
    """A cell with one parameter and two equal constants that computes ``function``, run once."""

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor(np.ones((2, 3), np.float32)), name="w")
            self.c = Tensor(np.full((2, 3), 3, np.float32))
            self.d = Tensor(np.full((2, 3), 3, np.float32))

        def construct(self, *inputs):
            return function(self, *inputs)

    Net()(*inputs)


def equal_nodes(net, x):
    return ops.relu(x) + ops.relu(x), (x + 1) * (x + 1), (x + net.c) * (x + net.d)


def neutral_numbers(net, x, y):
    return x * 1, x + 0, 0 + x, 1 * y


def what_stays(net, x, y):
    return x * 1.0, x / 1, x - 0, ops.neg(ops.neg(y)), x * 0


def transposes(net, x):
    return ops.transpose(ops.transpose(x, (1, 0)), (1, 0))


def reshapes(net, x):
    return ops.reshape(ops.reshape(x, (3, 2)), (6,)), ops.reshape(x, (2, 3)), x.reshape((6,)).reshape((3, 2))


def casts(net, x):
    return ops.cast(ops.cast(x, ms.float16), ms.float32), x.astype(ms.float32)


def parameter_reads(net, x, y):
    return x + net.w, y * net.w, net.w * net.w


def constants(net, x):
    return net.c + 1, net.c * net.c, ops.exp(net.c), net.c + net.c, net.c * 2 * x


def handed_through(net, x):
    return x


def parameter_out(net):
    return net.w


def constant_out(net, x):
    return net.c, x + net.c, (1, x)


def split(net, x):
    first, second = ops.split(x, 1, 1)[0:2]
    return ops.concat((first, second), 1), ops.stack((first, second))


def all_of_a_split(net, x):
    return ops.split(x, 1, 1)


run(equal_nodes, x)
run(neutral_numbers, x, y)
run(what_stays, x, y)
run(transposes, x)
run(reshapes, x)
run(casts, x)
run(parameter_reads, x, y)
run(constants, x)
run(handed_through, x)
run(parameter_out)
run(constant_out, x)
run(split, x)
run(all_of_a_split, x)
