"""Indexing of two kinds in cells beside and inside each other, and the gradient of a network of patches."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 8)
images = Tensor(np.arange(32, dtype=np.float32).reshape(2, 1, 4, 4) / 32)


class First(nn.Cell):
    def construct(self, x):
        return ops.exp(x[0])


class Column(nn.Cell):
    def construct(self, x):
        return x[:, 0]


class Beside(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = First()
        self.column = Column()

    def construct(self, x):
        return self.first(x), self.column(x * 2)


class Around(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = First()

    def construct(self, x):
        return self.first(x)[:, 0]


class Alike(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = First()

    def construct(self, x):
        return self.first(x), ops.cos(x)[1]


class Before(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = First()

    def construct(self, x):
        return self.first(x[:, 0])


class Attention(nn.Cell):
    def __init__(self):
        super().__init__()
        self.both = nn.Dense(2, 4, has_bias=False, weight_init="ones")
        self.out = nn.Dense(2, 2, weight_init="ones")

    def construct(self, x):
        b, n, d = x.shape
        both = self.both(x).reshape(b, n, 2, d).permute(2, 0, 1, 3)
        q, v = both[0], both[1]
        weights = ops.softmax(ops.bmm(q, v.swapaxes(-2, -1)), -1)
        return self.out(ops.bmm(weights, v).reshape(b, n, d))


class Patches(nn.Cell):
    def __init__(self):
        super().__init__()
        self.patch = nn.Conv2d(1, 2, 2, 2, pad_mode="valid", weight_init="ones")
        self.attention = Attention()
        self.head = nn.Dense(2, 3, weight_init="ones")

    def construct(self, x):
        x = self.patch(x).flatten(start_dim=2).swapaxes(1, 2)
        x = x + self.attention(x)
        return self.head(x[:, 0])


class Outer(nn.Cell):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def construct(self, x):
        return self.inner(x)


for inner in (Beside(), Around(), Alike(), Before()):
    Outer(inner)(x)
net = Patches()


def total(x):
    return net(x).sum()


ms.value_and_grad(total, None, net.trainable_params())(images)
