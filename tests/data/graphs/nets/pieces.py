"""Indexing, joining, ordering, reducing: many operators in one graph."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.arange(12, dtype=np.float32).reshape(3, 4))
which = Tensor(np.array([2, 0], np.int32))
mask = Tensor(np.array([[True, False, True, False]] * 3))


class Index(nn.Cell):
    """Indices of every kind."""

    def construct(self, x, which):
        return x[0], x[-1, 2], x[:, 1:3], x[..., 0], x[None, 1], x[::2, ::-1], x[which], x[1, :2]


class Shapes(nn.Cell):
    """Shapes and joins."""

    def construct(self, x, mask):
        first, second = ops.split(x, 2, 1)
        joined = ops.concat((first, second, first), 1), ops.stack((first, second), 1)
        wide = ops.tile(x, (1, 2)), ops.broadcast_to(x, (2, 3, 4)), ops.expand_dims(x, 0), ops.pad(x, (1, 1))
        return joined, wide, ops.select(mask, x, x * 2), ops.masked_fill(x, mask, 0.5), ops.transpose(x, (1, 0))


class Searches(nn.Cell):
    """Reductions and orders."""

    def construct(self, x, which):
        values, places = ops.topk(x, 2)
        searched = ops.argmax(x, 1), ops.argmin(x, 0), ops.cumsum(x, 0), ops.gather(x, which, 1)
        reduced = x.max(), x.min(0), x.mean((0, 1)), ops.prod(x, 1)
        return values, places, searched, *reduced, (x > 3).all(), (x > 3).any(0)


class Cuts(nn.Cell):
    """Pieces of every kind."""

    def construct(self, x):
        found = ops.split(x, 3, 1), ops.split(x, 7, 1), ops.chunk(x, 3, 1), ops.hsplit(x, (0, 2))
        by_count = ops.tensor_split(x, 3, 1), ops.tensor_split(x, 5, 1)
        return found, by_count, ops.tensor_split(x, (1, 1, -1, 9, 2), 1), ops.tensor_split(x, (-9, 1), 1)


class Ordered(nn.Cell):
    """What is put in order along every axis, in the loss of a gradient."""

    def construct(self, x):
        values, _ = ops.sort(x, 0)
        down, _ = ops.sort(x * 2, 1, True)
        return (values * x).sum() + (down * x).sum() + (ops.sort(x * 3, 0, True)[0] * x).sum()


Index()(x, which)
Shapes()(x, mask)
Searches()(x, which)
Cuts()(x)
ops.grad(Ordered())(x)
