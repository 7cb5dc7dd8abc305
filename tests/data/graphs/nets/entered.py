"""Functions that inner cells look up: those behind the result come first, whichever runs first."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
rng = np.random.default_rng(1)
x = Tensor(rng.standard_normal((2, 4, 4)).astype(np.float32))
order = Tensor(np.stack([rng.permutation(4) for _ in range(2)]).astype(np.int32))


class Inner(nn.Cell):
    def construct(self, x):
        return ops.softmax(x.swapaxes(1, 2), -1)


class Entered(nn.Cell):
    """Calls a cell by its name, in a SequentialCell, and in loops over lists."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm((4,))
        self.steps = nn.SequentialCell(nn.LayerNorm((4,)), Inner())
        self.norms = nn.CellList([nn.LayerNorm((4,)) for _ in range(2)])
        self.inner = nn.CellList([Inner() for _ in range(2)])


class First(Entered):
    def construct(self, x, order):
        ranks = order.astype(ms.float32)
        return self.norm(x).sum() * ranks.sum()


class Behind(Entered):
    def construct(self, x, order):
        ranks = order.astype(ms.float32)
        return ranks.sum() * self.norm(x).sum()


class Handed(Entered):
    def construct(self, x, order):
        ranks = ops.argsort(order.astype(ms.float32), axis=1)
        hidden = (ranks >= 2).astype(ms.float32)
        return self.norm(x).mean() * hidden.sum()


class Sequential(Entered):
    def construct(self, x, order):
        weights = ops.softmax(order.astype(ms.float32), -1)
        return self.steps(x).mean() * weights.swapaxes(0, 1).sum()


class Looped(Entered):
    def construct(self, x, order):
        weights = ops.softmax(order.astype(ms.float32), -1)
        for norm, inner in zip(self.norms, self.inner):  # noqa: B905 - as users write it
            x = inner(norm(x))
        return x.mean() * weights.swapaxes(0, 1).sum()


class Counted(Entered):
    def construct(self, x, order):
        weights = ops.softmax(order.astype(ms.float32), -1)
        for i, inner in enumerate(self.inner):
            x = inner(x) * i
        return (x.mean() * weights.swapaxes(0, 1)).sum()


for net in (First(), Behind(), Handed(), Sequential(), Looped(), Counted()):
    net(x, order)
