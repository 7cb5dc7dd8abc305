"""Gradients of sorting in one and three dimensions, and of what a value broadcast to its own shape is given."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.array([3.0, 1.0, 2.0, 5.0, 4.0, 0.0, 7.0, 6.0], np.float32))


class Sorted(nn.Cell):
    """Sorted values, used twice."""

    def construct(self, x):
        first = ops.sort(x)[0]
        return first * x + first


class Broadcast(nn.Cell):
    """The largest of a value that is broadcast to its own shape."""

    def construct(self, x):
        return x.expand_as(x).topk(2, -1)[0] * 2


for shape in (8,), (2, 4), (2, 2, 2):
    ms.grad(Sorted())(x.reshape(shape))
ms.grad(Broadcast())(x.reshape(2, 4))
