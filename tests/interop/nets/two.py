"""Two networks by turns, and one of them again with another shape: graph ids and operator numbers go on."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_device("CPU")


class A(nn.Cell):
    def construct(self, x):
        return (x + 1) * (x + 2) + x


class B(nn.Cell):
    def construct(self, x):
        return (x + 3) - 1


a, b = A(), B()
x = Tensor(np.ones(3, np.float32))
for _ in range(2):
    a(x)
    b(x)
a(Tensor(np.ones((2, 3), np.float32)))
a(x)
