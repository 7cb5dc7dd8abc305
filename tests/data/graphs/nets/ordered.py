"""Gradients of sorting in one and three dimensions, of a value broadcast to its own shape, of several results."""

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


class Both(nn.Cell):
    """Two results of one operator; the gradient takes one of them, too."""

    def construct(self, x):
        most, at = ops.topk(x, 2)
        return most * ops.std(x, -1, keepdims=True).tanh() + at.astype(ms.float32)


ms.value_and_grad(Both())(x.reshape(2, 4))
