"""One rank fails beside one that waits: while it compiles, while a kernel runs, or in the script itself."""

import sys

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore.communication import get_rank, init
from said import said

ms.set_context(mode=ms.GRAPH_MODE, device_target="CPU")
init()


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.total, self.take = ops.AllReduce(), ops.Gather()

    def construct(self, x, at):
        return self.total(self.take(x, at, 0) * 2)


class Taken(nn.Cell):
    def construct(self, x, at):
        return ops.matmul(x, x) if at.shape[0] == 3 else ops.gather_nd(x, at) * 2


net, x = Net(), Tensor(np.ones((4, 2), np.float32))
said("first", net(x, Tensor([0, 1])))
if get_rank() == 1:
    how = sys.argv[1]
    if how == "script":
        raise ValueError("enough")
    Taken()(x, Tensor([1, 2, 3] if how == "compile" else [[9, 9]]))
net(x, Tensor([0, 1]))
