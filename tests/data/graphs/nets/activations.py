"""Layers with an activation, two of which run before a function: whose operators were made first is the last one."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)


class Coupling(nn.Cell):
    def __init__(self, activation):
        super().__init__()
        self.scale = nn.SequentialCell(nn.Tanh(), activation())
        self.shift = nn.SequentialCell(nn.Tanh(), activation())

    def construct(self, x):
        scale = self.scale(x)
        shift = self.shift(x)
        return shift * ops.exp(scale)


x = Tensor(np.linspace(-1, 1, 24, dtype=np.float32).reshape(4, 6))
for activation in (nn.LeakyReLU, nn.GELU, nn.SiLU, nn.ELU, nn.Softmax, nn.ReLU):
    Coupling(activation)(x)
    ms.grad(Coupling(activation))(x)
