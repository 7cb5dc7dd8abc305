"""The smallest along an axis by a function: first called in ``Default``, then in two cells; and its gradient."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.arange(1, 10, dtype=np.float32).reshape(3, 3) / 8)
y = Tensor(np.arange(9, 18, dtype=np.float32).reshape(3, 3) / 8)


class Inner(nn.Cell):
    def construct(self, x, y):
        return ops.min(x, 1)[0] + y


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.one, self.two = Inner(), Inner()

    def construct(self, x, y):
        return ops.min(x, 1)[0] + y, self.one(x * 2, y * 2), self.two(x * 3, y * 3)


class Loss(nn.Cell):
    def __init__(self):
        super().__init__()
        self.net = Net()

    def construct(self, x, y):
        first, one, two = self.net(x, y)
        return first.sum() + one.sum() + two.sum()


Net()(x, y)
ops.GradOperation(get_all=True)(Loss())(x, y)
