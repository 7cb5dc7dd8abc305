"""Layers behind a norm with a weight, beside the value itself: which of equal layers comes first in the gradients."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)


class Norm(nn.Cell):
    def __init__(self):
        super().__init__()
        self.weight = Parameter(Tensor(np.ones(4, np.float32)), name="weight")

    def construct(self, x):
        return self.weight * (x * ops.rsqrt(x.pow(2).mean(-1, keep_dims=True) + 1e-6))


class Gated(nn.Cell):
    def __init__(self):
        super().__init__()
        self.gate, self.up, self.down = (nn.Dense(4, 4, has_bias=False) for _ in range(3))

    def construct(self, x):
        return self.down(ops.silu(self.gate(x)) * self.up(x))


class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.norm, self.inner = Norm(), Gated()
        self.first, self.second = nn.Dense(4, 4, has_bias=False), nn.Dense(4, 4, has_bias=False)


class OfCell(Block):
    def construct(self, x):
        return x + self.inner(self.norm(x))


class OfMethod(Block):
    def both(self, x):
        return ops.silu(self.first(x)) * self.second(x)

    def construct(self, x):
        return x + self.both(self.norm(x))


class Twice(Block):
    def construct(self, x):
        x = x + self.first(self.norm(x))
        return x + self.inner(self.norm(x)) * self.second(x)


class Loss(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def construct(self, x):
        return self.net(x).sum()


for net in (OfCell, OfMethod, Twice):
    part = Loss(net())
    nn.TrainOneStepCell(part, nn.SGD(part.trainable_params(), 0.1))(Tensor(np.ones((2, 4), np.float32)))
