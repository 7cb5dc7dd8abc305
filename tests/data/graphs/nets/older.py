"""Methods called by position and by keyword from two cells, functions of several names, operators beside functions."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.arange(6, dtype=np.float32).reshape(1, 2, 3) / 8 + 1)
places = Tensor(np.zeros((2,), np.int32))


class Named(nn.Cell):
    def construct(self, x, places):
        truth = (x > 1).any(axis=1)
        ends = x.max(axis=1), x.min(axis=1), x.argmax(axis=1), x.argmin(axis=1)
        return (
            truth,
            ends,
            x.cumsum(axis=1),
            x.flatten(start_dim=1),
            x.mean(axis=1),
            x.squeeze(axis=0),
            x.gather(places, axis=1),
        )


class Plain(nn.Cell):
    def construct(self, x, places):
        truth = (x > 1).any(1)
        ends = x.max(1), x.min(1), x.argmax(1), x.argmin(1)
        return truth, ends, x.cumsum(1), x.flatten("C"), x.mean(1), x.squeeze(0), x.gather(places, 1)


class Functions(nn.Cell):
    def construct(self, x, places):
        reduced = ops.reduce_max(x), ops.reduce_mean(x), ops.reduce_min(x), ops.reduce_sum(x)
        return reduced, ops.flip(x, (1,))


class Triangles(nn.Cell):
    def construct(self, x, places):
        return ops.triu(x, diagonal=1), ops.triu(x, -1), ops.tril(x, diagonal=1)


class Two(nn.Cell):
    def __init__(self, first, second):
        super().__init__()
        self.a = first
        self.b = second

    def construct(self, x, places):
        return self.a(x, places), self.b(x * 2, places)


Two(Named(), Plain())(x, places)
Two(Plain(), Named())(x, places)
Two(Functions(), Functions())(x, places)
Two(Triangles(), Triangles())(x, places)
