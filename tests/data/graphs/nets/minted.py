"""Layers of ``mint.nn``, each with its gradients."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, mint, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(3)
rng = np.random.default_rng(0)
rows, other = (Tensor(rng.standard_normal((2, 8)).astype(np.float32)) for _ in range(2))
images = Tensor(rng.standard_normal((2, 4, 6, 6)).astype(np.float32))
LAYERS = (
    (mint.nn.Linear(8, 3, bias=False), rows),
    (mint.nn.Flatten(), images),
    (mint.nn.PReLU(), rows),
    (mint.nn.SiLU(), rows),
    (mint.nn.Sigmoid(), rows),
    (mint.nn.Tanh(), rows),
    (mint.nn.Softmax(-1), rows),
    (mint.nn.Dropout(0.0), rows),
    (mint.nn.BCEWithLogitsLoss(), rows, ops.sigmoid(other)),
    (mint.nn.SmoothL1Loss("sum", 0.5), rows, other),
)


class Loss(nn.Cell):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def construct(self, *inputs):
        return ops.sin(self.layer(*inputs)).sum()


for layer, *inputs in LAYERS:
    weights = layer.trainable_params()
    ops.grad(Loss(layer), 0, weights=weights if len(weights) == 1 else None)(*inputs)
