"""Gradients of lists made by loops, and of choices inside loops."""

import mindspore as ms
import numpy as np
from mindspore import ParameterTuple, Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))


class Holder(nn.Cell):
    """Cells for the networks below."""

    def __init__(self):
        super().__init__()
        self.parts = nn.CellList([nn.SequentialCell(nn.Dense(3, 3), nn.Tanh()) for _ in range(3)])
        self.last = nn.Dense(3, 2)


class Listed(Holder):
    """A list of results."""

    def construct(self, x):
        y = ops.stack([cell(x) for cell in self.parts], 1)
        return self.last(y.sum(axis=1))


class Numbered(Holder):
    """The same over enumerate."""

    def construct(self, x):
        y = [cell(x) * i for i, cell in enumerate(self.parts)]
        return self.last(ops.concat(y, 0))


class Chosen(Holder):
    """A choice in each turn."""

    def construct(self, x):
        for i, cell in enumerate(self.parts):
            x = cell(x) if i else cell(x) * 2
        return self.last(x)


class Appended(Holder):
    """A list that grows."""

    def construct(self, x):
        y = []
        for cell in self.parts:
            y.append(cell(x))
        return self.last(ops.concat(y))


class Gradients(nn.Cell):
    """Gradients of all weights."""

    def __init__(self, net):
        super().__init__()
        self.net = net
        self.weights = ParameterTuple(net.trainable_params())
        self.gradient = ops.GradOperation(get_by_list=True)

    def construct(self, x):
        return self.gradient(self.net, self.weights)(x)


for net in (Listed, Numbered, Chosen, Appended):
    Gradients(net())(x)
