"""Gradients behind methods: how many function graphs each is made of."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.arange(6, dtype=np.float32).reshape(1, 6) / 8 + 1)


class Curve(nn.Cell):
    """The operator whose gradient shows which of its places is nearer to the result."""

    def __init__(self):
        super().__init__()
        self.tanh = ops.Tanh()

    def construct(self, x):
        return self.tanh(x)


class Deep(nn.Cell):
    """A cell in a cell."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def construct(self, x):
        return self.inner(x)


class Beside(nn.Cell):
    """An operator in front of a function, and the same one so many cells deep."""

    def __init__(self, depth):
        super().__init__()
        self.before = Curve()
        self.beside = Curve()
        for _ in range(1, depth):
            self.beside = Deep(self.beside)


class Gradient(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def construct(self, x, z):
        return ms.grad(self.net, (0, 1))(x, z)


class T(Beside):
    def construct(self, x, z):
        y = self.before(x)
        return y.T, self.beside(z)


class Add(Beside):
    def construct(self, x, z):
        y = self.before(x)
        return y + z, self.beside(z)


class Gt(Beside):
    def construct(self, x, z):
        y = self.before(x)
        return y > 0, self.beside(z)


class Neg(Beside):
    def construct(self, x, z):
        y = self.before(x)
        return -y, self.beside(z)


class Astype(Beside):
    def construct(self, x, z):
        y = self.before(x)
        return y.astype(ms.float16), self.beside(z)


class Mean(Beside):
    def construct(self, x, z):
        y = self.before(x)
        return y.mean(1), self.beside(z)


class Squeeze(Beside):
    def construct(self, x, z):
        y = self.before(x)
        return y.squeeze(0), self.beside(z)


class Swapaxes(Beside):
    def construct(self, x, z):
        y = self.before(x)
        return y.swapaxes(0, 1), self.beside(z)


class Unsqueeze(Beside):
    def construct(self, x, z):
        y = self.before(x)
        return y.unsqueeze(0), self.beside(z)


for net, depth in (
    (T, 6),
    (Add, 3),
    (Gt, 3),
    (Neg, 3),
    (Astype, 5),
    (Mean, 4),
    (Squeeze, 4),
    (Swapaxes, 9),
    (Unsqueeze, 4),
):
    Gradient(net(depth))(x, x + 1)
