"""Gradients of gradients: of activations as a gradient penalty meets them."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.linspace(-2, 2, 6, dtype=np.float32).reshape(2, 3))
above = Tensor(np.linspace(0.5, 3, 6, dtype=np.float32).reshape(2, 3))
below = Tensor(np.linspace(-0.5, 0.7, 6, dtype=np.float32).reshape(2, 3))
y = Tensor(np.linspace(1, 2, 6, dtype=np.float32).reshape(2, 3))


class Weighted(nn.Cell):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def construct(self, x, y):
        return self.function(x) * y


class Penalty(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.grad = ops.GradOperation()

    def construct(self, x, y):
        return ops.square(self.grad(self.net)(x, y))


class Gradient(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.grad = ops.GradOperation(get_all=True)

    def construct(self, x, y):
        return self.grad(self.net)(x, y)


for function, given in (
    (ops.Tanh(), x),
    (ops.Sigmoid(), x),
    (ops.ReLU(), x),
    (ops.Sqrt(), above),
    (ops.Rsqrt(), above),
    (ops.Softplus(), x),
    (ops.silu, x),
    (ops.Asin(), below),
    (ops.ACos(), below),
    (ops.Atan(), x),
):
    Gradient(Penalty(Weighted(function)))(given, y)
