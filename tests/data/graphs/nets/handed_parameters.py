"""Parameters handed to compiled functions and cells as arguments: their names, and reads between updates of others."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

x = Tensor(np.arange(3, dtype=np.float32))
rate = Parameter(Tensor(0.5, ms.float32), name="rate")
p = Parameter(Tensor(np.ones(3, np.float32)), name="p")
q = Parameter(Tensor(np.ones(3, np.float32)), name="q")


@ms.jit
def read(a, x):
    return a * x + a


@ms.jit
def assigned(a, w, x):
    ops.assign(w, x * a)
    return a * x


@ms.jit
def twice(a, x):
    ops.assign(p, x * a)
    y = a * x
    ops.assign(q, y + p)
    return a * x


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.p, self.q, self.rate = p, q, rate

    @ms.jit
    def update(self, a, x):
        ops.assign(self.p, x * a)
        y = a * x
        ops.assign(self.q, y + self.p)
        return a * x

    def construct(self, x):
        return self.update(self.rate, x)


class Given(nn.Cell):
    def __init__(self):
        super().__init__()
        self.p, self.q = p, q

    def construct(self, a, x):
        ops.assign(self.p, x * a)
        y = a * x
        ops.assign(self.q, y + self.p)
        return a * x


for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
    ms.set_context(mode=mode)
    read(rate, x)
    read(p, x)
    assigned(rate, p, x)
    twice(rate, x)
    Net()(x)
    Given()(rate, x)
