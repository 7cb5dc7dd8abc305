"""Gradients behind functions of the library: how many function graphs each is made of."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.arange(6, dtype=np.float32).reshape(1, 6) / 8 + 1)
matrix = Tensor(np.ones((6, 2), np.float32))


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


class Clamp(Beside):
    def construct(self, x, z):
        y = self.before(x)
        return ops.clamp(y, 0.2, 0.8), self.beside(z)


class Flatten(Beside):
    def construct(self, x, z):
        y = self.before(x)
        return ops.flatten(y), self.beside(z)


class Logsumexp(Beside):
    def construct(self, x, z):
        y = self.before(x)
        return ops.logsumexp(y, 1), self.beside(z)


class Matmul(Beside):
    def construct(self, x, z):
        y = self.before(x)
        return ops.matmul(y, matrix), self.beside(z)


class Mean(Beside):
    def construct(self, x, z):
        y = self.before(x)
        return ops.mean(y), self.beside(z)


class Relu(Beside):
    def construct(self, x, z):
        y = self.before(x)
        return ops.relu(y), self.beside(z)


class Softmax(Beside):
    def construct(self, x, z):
        y = self.before(x)
        return ops.softmax(y), self.beside(z)


class Softplus(Beside):
    def construct(self, x, z):
        y = self.before(x)
        return ops.softplus(y), self.beside(z)


class Squeeze(Beside):
    def construct(self, x, z):
        y = self.before(x)
        return ops.squeeze(y, 0), self.beside(z)


class Swapaxes(Beside):
    def construct(self, x, z):
        y = self.before(x)
        return ops.swapaxes(y, 0, 1), self.beside(z)


class Unsqueeze(Beside):
    def construct(self, x, z):
        y = self.before(x)
        return ops.unsqueeze(y, 0), self.beside(z)


for net, depth in (
    (Clamp, 5),
    (Flatten, 11),
    (Logsumexp, 11),
    (Matmul, 3),
    (Mean, 3),
    (Relu, 4),
    (Softmax, 6),
    (Softplus, 5),
    (Squeeze, 3),
    (Swapaxes, 8),
    (Unsqueeze, 3),
):
    Gradient(net(depth))(x, x + 1)
