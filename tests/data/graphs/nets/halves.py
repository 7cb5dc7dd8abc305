"""Layers and functions of Float16 whose kernels a CPU has in Float32 alone, forward or in their gradients."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(3)
rng = np.random.default_rng(0)
rows = Tensor(rng.standard_normal((3, 4)).astype(np.float32))
volume = Tensor(rng.standard_normal((1, 2, 4, 4, 4)).astype(np.float32))
LAYERS = (
    (nn.HSigmoid(), rows),
    (nn.SoftShrink(), rows),
    (nn.HShrink(), rows),
    (nn.CELU(), rows),
    (nn.SeLU(), rows),
    (nn.ELU(), rows),
    (nn.Softsign(), rows),
    (nn.HSwish(), rows),
    (nn.SiLU(), rows),
    (nn.MaxPool3d(2), volume),
    (nn.AvgPool3d(2), volume),
)


class Halved(nn.Cell):
    """A layer between two casts."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def construct(self, x):
        return self.layer(x.astype(ms.float16)).astype(ms.float32)


class Functions(nn.Cell):
    """Functions without a layer."""

    def construct(self, x):
        x = x.astype(ms.float16)
        return (ops.asinh(x) + ops.tan(x)).astype(ms.float32)


for layer, given in (*LAYERS, (Functions(), rows)):
    net = Halved(layer)
    net(given)
    ops.GradOperation()(net)(given)
