"""A training step of the script's own in a graph: gradients of two batches added, then summed over the ranks."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore.communication import get_group_size, get_rank, init
from said import said

ms.set_context(mode=ms.GRAPH_MODE, device_target="CPU")
init()
size = get_group_size()
random = np.random.default_rng(get_rank())
net = nn.SequentialCell(nn.Dense(3, 4, "ones", "zeros"), nn.ReLU(), nn.Dense(4, 1, "ones", "zeros"))
weights = net.trainable_params()
optimizer = nn.SGD(weights, 0.1, weight_decay=0.01)
reducer = nn.DistributedGradReducer(weights, mean=True, degree=size)
loss = nn.MSELoss()


def forward(x, y):
    return loss(net(x), y)


slope = ms.value_and_grad(forward, None, weights)


class Step(nn.Cell):
    def construct(self, x, y):
        first, a = slope(x[:2], y[:2])
        second, b = slope(x[2:], y[2:])
        added = ops.HyperMap()(ops.add, a, b)
        optimizer(reducer(added))
        return first + second


step = Step()
for _ in range(2):
    x, y = (Tensor(random.standard_normal((4, n)).astype(np.float32)) for n in (3, 1))
    said("loss", step(x, y))
said("weights", *weights)
