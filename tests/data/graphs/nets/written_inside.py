"""Functions written inside others: what they look up counts where they are called, also before they are made."""

# ruff: noqa: F841 - values that nothing reads are part of what it shows

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
data = Tensor(np.arange(9, dtype=np.float32).reshape(3, 3) / 8)


class Plus(nn.Cell):
    def construct(self, x):
        return x + x


class Silu(nn.Cell):
    def construct(self, x):
        return ops.silu(x)


class Idle(nn.Cell):
    def __init__(self, part):
        super().__init__()
        self.part = part

    def construct(self, x):
        a = self.part(x)

        def inner(t):
            return ops.silu(t) + t

        b = inner(x)
        return ops.silu(a) + x


class Around(nn.Cell):
    def __init__(self, part):
        super().__init__()
        self.idle = Idle(part)

    def construct(self, x):
        return self.idle(x)


class Used(nn.Cell):
    def __init__(self, part):
        super().__init__()
        self.part = part

    def construct(self, x):
        def first(t):
            return ops.silu(t) + t

        a = self.part(x)

        def second(t):
            return first(t) * t

        return second(a)


class Handed(nn.Cell):
    def __init__(self, part):
        super().__init__()
        self.used = Used(part)

    def construct(self, x):
        return self.used(x)


for part in (Plus, Silu):
    for net in (Idle, Around, Used, Handed):
        net(part())(data)
