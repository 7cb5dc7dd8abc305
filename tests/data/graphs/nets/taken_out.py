"""Tuples that functions give and take apart: whose primitive is looked up first for a gradient."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 4))


class Two(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = (nn.Dense(4, 4, weight_init="ones") for _ in range(3))

    def construct(self, x):
        return self.a(x), self.b(x)


class Multiplied(Two):
    def __init__(self):
        super().__init__()
        self.two = Two()

    def construct(self, x):
        p, q = self.two(x)
        return (q * p).sum()


class Encoded(Two):
    def encode(self, x):
        return self.a(x), self.b(x)

    def construct(self, x):
        mean, log = self.encode(x)
        z = ops.exp(0.5 * log) + mean
        return ops.sigmoid(self.c(z)), mean, log


class InPlace(Encoded):
    def construct(self, x):
        mean, log = self.a(x), self.b(x)
        z = ops.exp(0.5 * log) + mean
        return ops.sigmoid(self.c(z)), mean, log


class Divergence(nn.Cell):
    def __init__(self, net, first):
        super().__init__()
        self.net, self.first = net, first

    def construct(self, x):
        out, mean, log = self.net(x)
        if self.first:
            return (log - mean).mean() + out.sum()
        return out.sum() + (log - mean).mean()


class Nested(Two):
    def both(self, x):
        return self.a(x), (self.b(x), x)

    def construct(self, x):
        p, (q, r) = self.both(x)
        return (q * self.c(p) + r).sum()


nets = [Multiplied(), Nested()]
for encoder in (Encoded, InPlace):
    nets += [Divergence(encoder(), first) for first in (False, True)]
for net in nets:
    nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.1)).set_train()(x)
