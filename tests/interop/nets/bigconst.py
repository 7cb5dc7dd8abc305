"""Constants too long to print in an ``.ir``, and ``Print``."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_device("CPU")


class Big(nn.Cell):
    def __init__(self):
        super().__init__()
        self.c = Tensor(np.arange(2000).reshape(40, 50).astype(np.float32))
        self.d = Tensor(np.arange(30).astype(np.float32))

    def construct(self, x):
        a = x + self.c
        b = self.d + 1
        ops.Print()("hello", a)
        return a, b + x[0, :30]


print(Big()(Tensor(np.ones((40, 50), np.float32)))[0].shape)
