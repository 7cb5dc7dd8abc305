"""A gradient, an update by it, and a second gradient of the same function in one graph."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
rng = np.random.default_rng(5)


class Ascending(nn.Cell):
    def __init__(self, net, loss, updated):
        super().__init__()
        self.net, self.loss, self.updated = net, loss, updated
        self.weights = ms.ParameterTuple(net.trainable_params())
        self.grad = ops.GradOperation(get_by_list=True)

    def compute(self, x, y):
        return self.loss(self.net(x), y)

    def construct(self, x, y):
        grads = self.grad(self.compute, self.weights)(x, y)
        for i in range(self.updated):
            ops.assign_add(self.weights[i], grads[i] * 0.1)
        return self.grad(self.compute, self.weights)(x, y)


def dense(n, m):
    weight = Tensor(rng.standard_normal((m, n)).astype(np.float32))
    return nn.Dense(n, m, weight_init=weight, bias_init="zeros")


x, y = (Tensor(rng.standard_normal(shape).astype(np.float32)) for shape in ((5, 3), (5, 2)))
for updated in (0, 1, 2):
    Ascending(dense(3, 2), nn.MSELoss(), updated)(x, y)
    Ascending(nn.SequentialCell(dense(3, 4), nn.GELU(), dense(4, 2)), nn.MSELoss(), updated)(x, y)
