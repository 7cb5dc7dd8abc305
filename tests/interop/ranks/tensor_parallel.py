"""A layer's columns and rows on all ranks, a vocabulary in parts, trained by Adam."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore.communication import get_group_size, get_rank, init
from said import said

ms.set_context(mode=ms.GRAPH_MODE, device_target="CPU")
init()
rank, size = get_rank(), get_group_size()
random = np.random.default_rng(7)


def drawn(*shape):
    return random.standard_normal(shape).astype(np.float32)


class Embedding(nn.Cell):
    """Rows ``rank * count`` on; a row that another rank has is 0 here."""

    def __init__(self, whole):
        super().__init__()
        self.count = len(whole) // size
        self.first = rank * self.count
        self.table = ms.Parameter(Tensor(whole[self.first : self.first + self.count]), name="table")
        self.total = ops.AllReduce()

    def construct(self, at):
        here = ops.logical_and(at >= self.first, at < self.first + self.count)
        rows = ops.gather(self.table, ops.where(here, at - self.first, ops.zeros_like(at)), 0)
        return self.total(rows * ops.cast(here, ms.float32).expand_dims(-1))


class Block(nn.Cell):
    def __init__(self, first, second):
        super().__init__()
        wide = first.shape[1] // size
        self.first = ms.Parameter(Tensor(first[:, rank * wide : (rank + 1) * wide]), name="first")
        self.second = ms.Parameter(Tensor(second[rank * wide : (rank + 1) * wide]), name="second")
        self.total = ops.AllReduce()

    def construct(self, x):
        return self.total(ops.matmul(ops.relu(ops.matmul(x, self.first)), self.second))


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.embedding = Embedding(drawn(4 * size, 4))
        self.block = Block(drawn(4, 8), drawn(8, 4))

    def construct(self, at):
        return self.block(self.embedding(at))


net = Net()
step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Adam(net.trainable_params(), 0.05))
at, y = Tensor(random.integers(0, 4 * size, (6,)).astype(np.int32)), Tensor(drawn(6, 4))
said("losses", [step(at, y) for _ in range(3)])
