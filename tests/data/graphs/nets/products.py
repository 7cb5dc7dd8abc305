"""Gradients of ``@`` where an operand is one matrix behind leading axes of one element, or is stretched."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)


class Product(nn.Cell):
    def construct(self, x, w):
        return ops.matmul(x, w)


class Gradient(nn.Cell):
    def __init__(self):
        super().__init__()
        self.net = Product()
        self.grad = ops.GradOperation(get_all=True, sens_param=True)

    def construct(self, x, w, start):
        return self.grad(self.net)(x, w, start)


SHAPES = (
    ((1, 3, 4), (1, 4, 2), (1, 3, 2)),
    ((1, 1, 3, 4), (1, 1, 4, 2), (1, 1, 3, 2)),
    ((2, 3, 4), (1, 4, 2), (2, 3, 2)),
    ((1, 3, 4), (2, 4, 2), (2, 3, 2)),
    ((3, 4), (1, 4, 2), (1, 3, 2)),
    ((1, 3, 4), (4, 2), (1, 3, 2)),
    ((1, 1, 3, 4), (1, 4, 2), (1, 1, 3, 2)),
    ((2, 3, 4), (2, 4, 2), (2, 3, 2)),
    ((2, 1, 4), (2, 4, 3), (2, 1, 3)),
    ((1, 4), (2, 4, 3), (2, 1, 3)),
    ((4,), (1, 4, 3), (1, 3)),
    ((1, 3, 4), (4,), (1, 3)),
)
for shapes in SHAPES:
    Gradient()(*(Tensor(np.ones(shape, np.float32)) for shape in shapes))
