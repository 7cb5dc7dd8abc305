"""A loop and a branch on tensors: several kernel graphs, operators that run several times in one iteration."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE, device_target="CPU")


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor(np.full((3, 3), 0.5, np.float32)), name="w")

    def construct(self, x):
        i = ops.zeros((), ms.int32)
        while i < 3:
            x = ops.matmul(x, self.w)
            i = i + 1
        if x.sum() > 0:
            x = x + 1
        else:
            x = x - 1
        return x


net = Net()
x = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
net(x)
net(-x)
