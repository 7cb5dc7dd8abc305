"""Functions that a user's functions and methods look up, called from inner cells and around them."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
rng = np.random.default_rng(1)
x = Tensor(rng.standard_normal((2, 4, 4)).astype(np.float32))
order = Tensor(np.stack([rng.permutation(4) for _ in range(2)]).astype(np.int32))


def helper(x):
    return ops.softmax(x.swapaxes(1, 2), -1)


class Deep(nn.Cell):
    def other(self, x):
        return ops.softmax(x.swapaxes(1, 2), -1)


class Helped(nn.Cell):
    def construct(self, x):
        return helper(x)


class Owner(nn.Cell):
    def __init__(self):
        super().__init__()
        self.deep = Deep()

    def construct(self, x):
        return self.deep.other(x)


class Net(nn.Cell):
    """``what`` chooses who calls whom."""

    def __init__(self, what):
        super().__init__()
        self.what = what
        self.helped, self.owner = Helped(), Owner()

    def way(self, x):
        return ops.softmax(x.swapaxes(1, 2), -1)

    def construct(self, x, order):
        weights = ops.softmax(order.astype(ms.float32), -1).swapaxes(0, 1)
        if self.what == 0:
            out = self.helped(x)
        elif self.what == 1:
            out = self.owner(x)
        elif self.what == 2:
            out = helper(self.helped(x))
        elif self.what == 3:
            out = self.way(self.helped(x))
        else:
            out = self.helped(x) * self.way(x)
        return out.sum() * weights.sum()


for what in range(5):
    Net(what)(x, order)
