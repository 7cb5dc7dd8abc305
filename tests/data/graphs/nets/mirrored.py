"""Comparisons with the constant on the left; functions that others name without calling them, or call inside."""

# ruff: noqa: SIM300

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.linspace(-1, 3, 6).astype(np.float32).reshape(2, 3))


class Numbers(nn.Cell):
    """Numbers and a tensor on the left, sides of a chain, a comparison in a loop."""

    def __init__(self):
        super().__init__()
        self.limit = Tensor(np.float32(0.5))

    def construct(self, x):
        both = (0 <= x).astype(ms.float32) * (2 > x).astype(ms.float32)
        for scale in (1, 2):
            both = both + ops.where(self.limit > x * scale, x, both)
        if 3 > x.ndim:
            both = both * (1.5 < x).float() * (2 >= x).float()
        return both, self.limit >= x, self.limit < x, self.limit <= x, x > 1, x < 2.0, ops.arange(3) > x


class Largest(nn.Cell):
    """Names ``ops.maximum`` and ``ops.minimum``."""

    def construct(self, x):
        return ops.amax(x, 0) + x.min(0)[0]


class Limits(nn.Cell):
    """Calls them."""

    def construct(self, x):
        return ops.maximum(x, 0.5 * x) + ops.minimum(x, x * 2)


class Named(nn.Cell):
    """They stand where they are named first."""

    def __init__(self):
        super().__init__()
        self.largest, self.limits = Largest(), Limits()

    def construct(self, x):
        return self.limits(self.largest(x))


class Again(nn.Cell):
    """A cell around."""

    def __init__(self):
        super().__init__()
        self.named = Named()

    def construct(self, x):
        return self.named(x)


class Chosen(nn.Cell):
    """Calls ``addn`` and ``select``."""

    def construct(self, x):
        return ops.select(x > 0, x, ops.addn((x, x)))


class Bounded(nn.Cell):
    """So does what clips two values together."""

    def __init__(self):
        super().__init__()
        self.chosen = Chosen()

    def construct(self, x):
        return ops.clip_by_global_norm((self.chosen(x), x * 3), 1.0)


Numbers()(x)
Again()(x)
ms.grad(Again())(x)
Bounded()(x)
