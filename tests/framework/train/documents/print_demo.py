"""The document's use of Print."""

import mindspore.context as context
import mindspore.nn as nn
import mindspore.ops as ops
import numpy as np
from mindspore import Tensor

context.set_context(mode=context.GRAPH_MODE)


class PrintDemo(nn.Cell):
    def __init__(self):
        super().__init__()
        self.print = ops.Print()

    def construct(self, x, y):
        self.print("print Tensor x and Tensor y:", x, y)
        return x


x = Tensor(np.ones([2, 1]).astype(np.int32))
y = Tensor(np.ones([2, 2]).astype(np.int32))
net = PrintDemo()
output = net(x, y)
