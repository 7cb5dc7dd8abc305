"""Collectives in graphs, and their gradients; what a CPU has."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore.communication import get_group_size, get_rank, init

ms.set_context(mode=ms.GRAPH_MODE, device_target="CPU")
init()
rank, size = get_rank(), get_group_size()


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.total, self.gathered = ops.AllReduce(), ops.AllGather()
        self.shared, self.again = ops.Broadcast(1), ops.Broadcast(0)

    def construct(self, x):
        total = self.total(x * 2)
        gathered = self.gathered(total + x)
        return total, gathered, self.shared((x + 1,))[0], self.again((gathered,))[0] * 2


class Slope(nn.Cell):
    def __init__(self, op):
        super().__init__()
        self.op = op

    def construct(self, x):
        return (self.op(x * x) * self.op(x)).sum()


class Divided(nn.Cell):
    """A layer whose weights lie on all ranks."""

    def __init__(self):
        super().__init__()
        random = np.random.default_rng(rank)
        self.first = ms.Parameter(Tensor(random.standard_normal((2, 3)).astype(np.float32)), name="first")
        self.second = ms.Parameter(Tensor(random.standard_normal((3, 2)).astype(np.float32)), name="second")
        self.total = ops.AllReduce()

    def construct(self, x):
        return self.total(ops.matmul(ops.relu(ops.matmul(x, self.first)), self.second))


x = Tensor((np.arange(2 * size).reshape(size, 2) + 1).astype(np.float32) * (rank + 1))
Net()(x)
ms.grad(Slope(ops.AllReduce()))(x)
net = Divided()
step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.1, 0.9))
step(x / 10, x)
step(x / 10, x)
