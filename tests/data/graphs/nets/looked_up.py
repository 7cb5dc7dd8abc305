"""Who names a function first: a cell around a choice or a loop, or the cell it calls before."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))


class Inner(nn.Cell):
    def construct(self, x):
        return ops.tanh(ops.relu(x))


class Around(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Inner()


class Free(Around):
    def construct(self, x):
        t = self.inner(x)
        if x.shape[0] > 1:
            x = ops.relu(x)
        return x + t


class Both(Around):
    def construct(self, x):
        t = self.inner(x)
        if x.shape[0] > 1:
            x = ops.relu(x)
            t = t + 1
        return x + t


class Handed(Around):
    def construct(self, x):
        t = self.inner(x)
        if x.shape[0] > 1:
            t = ops.relu(t)
        return x + t


class Behind(Around):
    def construct(self, x):
        t = self.inner(x)
        if x.shape[0] > 7:
            x = x * 2
        return ops.tanh(x) + t


class Turns(Around):
    def construct(self, x):
        t = self.inner(x)
        for _ in range(2):
            x = ops.relu(x) + t
        return x


class After(Around):
    def construct(self, x):
        t = self.inner(x)
        for _ in range(2):
            x = x * 2
        return ops.relu(x) + t


class Fixed(Around):
    def construct(self, x):
        t = self.inner(x)
        return ops.tanh(t) if False else ops.relu(t)


for net in (Free, Both, Handed, Behind, Turns, After, Fixed):
    net()(x)
