"""Operators of two constants, of one shape and of two: what the compiler computes of them."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))


class Net(nn.Cell):
    def __init__(self, other):
        super().__init__()
        self.one = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
        self.other = Tensor(other)

    def construct(self, x):
        return (
            x + 1,
            self.one == self.other,
            self.one != self.other,
            self.one > self.other,
            self.one >= self.other,
            self.one < self.other,
            self.one <= self.other,
            ops.minimum(self.one, self.other),
            self.one * self.other,
        )


for other in (np.ones((2, 3), np.float32), np.ones(3, np.float32), np.ones((2, 1), np.float32), np.float32(1)):
    Net(other)(x)
