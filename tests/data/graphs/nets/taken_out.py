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


class Part(nn.Cell):
    def construct(self, x):
        v = x - ops.mean(x, -1, True)
        return v, ops.relu(v)


class Last(nn.Cell):
    def __init__(self):
        super().__init__()
        self.part, self.last = Part(), nn.Dense(4, 3, weight_init="ones")


class UnreadName(Last):
    def construct(self, x):
        _, v = self.part(x)
        v = v - v.max(axis=-1, keepdims=True)
        return self.last(ops.exp(v))


class UnreadLength(Last):
    def construct(self, x):
        _, n = x.shape
        v = x * n
        v = v - v.max(axis=-1, keepdims=True)
        return self.last(ops.exp(v))


class UnreadNumber(Last):
    def construct(self, x):
        n = x.shape[0] + 1  # noqa: F841 - what is measured
        v = x * 2
        v = v - v.max(axis=-1, keepdims=True)
        return self.last(ops.exp(v))


class UnreadShape(Last):
    def construct(self, x):
        n = x.shape  # noqa: F841 - what is measured
        v = x * 2
        v = v - v.max(axis=-1, keepdims=True)
        return self.last(ops.exp(v))


nets = [Multiplied(), Nested()]
for encoder in (Encoded, InPlace):
    nets += [Divergence(encoder(), first) for first in (False, True)]
for net in nets:
    nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.1)).set_train()(x)
y = Tensor(np.zeros(2, np.int32))
for unread in (UnreadName, UnreadLength, UnreadNumber, UnreadShape):
    net = nn.WithLossCell(unread(), nn.CrossEntropyLoss())
    nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.1)).set_train()(x, y)
