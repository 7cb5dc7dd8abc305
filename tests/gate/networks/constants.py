"""Tensor constants inside ``construct``, and the shape operators that come with them; forward, twice."""

import numpy as np

from harness import Tensor, float16, float32, int64, nn, ops
from tests.gate.networks.values import tensor, uniform


class Constants(nn.Cell):
    """Constants of several dtypes as attributes, literals and folded expressions."""

    def __init__(self):
        super().__init__()
        self.table = Tensor(uniform((5, 3), "table"), float32)
        self.half = Tensor(uniform((3,), "half"), float16)
        self.mask = Tensor(np.array([True, False, True]))
        self.rows = Tensor(np.array([4, 0, 2, 2]), int64)

    def construct(self, x):
        picked = ops.gather(self.table, self.rows, 0)
        mixed = ops.select(self.mask, picked[1], x[0]) + ops.cast(self.half, float32)
        scaled = x * Tensor([10.0, 20.0, 30.0], float32) ** 2
        joined = ops.concat((scaled, picked), axis=1)
        top, where = ops.TopK()(joined, 2)
        return mixed, ops.reshape(joined, (2, 12)), ops.stack((x, picked), 0), top, where, ops.one_hot(where, 6)


def play(msdump):
    """Two runs over 4 rows."""
    msdump.run(Constants(), tensor((4, 3), "x", float32), steps=2)
