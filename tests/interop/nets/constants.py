"""Constant tensors of several dtypes inside ``construct``, two steps."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_device("CPU")


class Constants(nn.Cell):
    def __init__(self):
        super().__init__()
        self.c = Tensor(np.array([[1, 2], [3, 4]], np.float32))
        self.h = Tensor(np.array([1.5, 2.5], np.float16))
        self.b = Tensor(np.array([True, False]))

    def construct(self, x):
        y = (x + self.c) * Tensor([10.0, 20.0], ms.float32)
        z = ops.select(self.b, x[0], y[0])
        k = ops.cast(self.h, ms.float32) + z
        r = ops.reshape(y, (4, 1))
        t = ops.concat((x, y), axis=1)
        return y, z, k, r, t, x**2, ops.sum(x, dim=0), x + 3


net = Constants()
x = Tensor(np.array([[1, 2], [3, 4]], np.float32))
for _ in range(2):
    print(net(x))
