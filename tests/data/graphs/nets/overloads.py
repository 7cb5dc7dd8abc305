"""Functions of ``mint`` that are chosen by the kinds of their arguments; one image of a padding layer."""

import mindspore as ms
import numpy as np
from mindspore import mint, nn

ms.set_context(mode=ms.GRAPH_MODE)
x = ms.Tensor(np.linspace(-1, 3, 6).astype(np.float32).reshape(2, 3))


class Overloads(nn.Cell):
    """Of two tensors, and of a tensor and a number."""

    def construct(self, x, y):
        values = mint.div(x, y) + mint.mul(x, y) * mint.lerp(x, y, 0.5)
        values = values + mint.remainder(x, y) + mint.remainder(x, 2) + mint.pow(x, 2)
        values = mint.where(mint.ge(x, y), values, x) + mint.xlogy(x, y) + mint.div(x, 4)
        return values, mint.eq(x, y), mint.eq(x, 1.0), mint.greater_equal(y, x), mint.squeeze(x.reshape(1, -1), 0)


class Inside(nn.Cell):
    """A cell around, and the layer."""

    def __init__(self):
        super().__init__()
        self.overloads, self.pad = Overloads(), nn.ReplicationPad1d(1)

    def construct(self, x):
        padded = self.pad(x)
        return self.overloads(padded, padded + 2)


Inside()(x)
ms.grad(nn.ReplicationPad2d(1))(x.reshape(1, 2, 3))
