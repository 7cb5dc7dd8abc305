"""Layers of ``mint.nn`` that resize, and BCELoss, each with its gradients."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, mint, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(3)
rng = np.random.default_rng(0)
rows, other = (Tensor(rng.uniform(0.1, 0.9, (2, 8)).astype(np.float32)) for _ in range(2))
images = Tensor(rng.standard_normal((2, 4, 3, 4)).astype(np.float32))
LAYERS = (
    (mint.nn.BCELoss(), rows, other),
    (mint.nn.BCELoss(reduction="sum"), rows, other),
    (mint.nn.Upsample(size=(5, 5)), images),
    (mint.nn.Upsample(scale_factor=(2.0, 2.0)), images),
    (mint.nn.UpsamplingNearest2d(size=(5, 5)), images),
    (mint.nn.UpsamplingNearest2d(scale_factor=(2.0, 2.0)), images),
)


class Loss(nn.Cell):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def construct(self, *inputs):
        return ops.sin(self.layer(*inputs)).sum()


for layer, *inputs in LAYERS:
    ops.grad(Loss(layer), 0)(*inputs)
