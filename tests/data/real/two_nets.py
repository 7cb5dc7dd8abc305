"""Two networks and a recompilation in one process: graph ids, shared counters, labels that jump and repeat."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn

ms.set_context(mode=ms.GRAPH_MODE, device_target="CPU")


class First(nn.Cell):
    def construct(self, x):
        return (x + 1) * (x + 2)


class Second(nn.Cell):
    def construct(self, x):
        return x + x


first, second = First(), Second()
short, long = Tensor(np.ones(3, np.float32)), Tensor(np.ones((2, 2), np.float32))
for net, x in ((first, short), (first, short), (second, short), (first, short), (first, long), (second, short)):
    net(x)
