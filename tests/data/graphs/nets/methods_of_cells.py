"""Methods of cells that are not ``construct``, called from outside the cell: they stand in it."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
data = Tensor(np.arange(12, dtype=np.float32).reshape(3, 4) / 8)


class Both(nn.Cell):
    def __init__(self):
        super().__init__()
        self.act = nn.Tanh()

    def construct(self, x):
        return ops.exp(x)

    def inverse(self, x):
        return ops.log(self.act(x) + 3)

    def twice(self, x):
        return self.inverse(x) * self.inverse(x + 1)


class Flow(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.CellList([Both(), Both()])
        self.one = Both()


class One(Flow):
    def construct(self, x):
        return self.one.inverse(x)


class Inner(Flow):
    def construct(self, x):
        return self.one.twice(x) - x


class Listed(Flow):
    def construct(self, x):
        return self.layers[1].inverse(self.layers[0].inverse(x))


class Turned(Flow):
    def construct(self, x):
        for layer in self.layers[::-1]:
            x = layer.inverse(x)
        return x


class Called(Flow):
    def construct(self, x):
        y = self.one(x)
        return self.one.inverse(y)


class Around(nn.Cell):
    def __init__(self, flow):
        super().__init__()
        self.flow = flow

    def construct(self, x):
        return self.flow(x)


for flow in (One, Inner, Listed, Turned, Called):
    Around(flow())(data)
