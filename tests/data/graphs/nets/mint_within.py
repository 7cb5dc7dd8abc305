"""Functions and layers of ``mint`` that a CPU computes in graphs alone, with their gradients."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, mint, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(3)
functional = mint.nn.functional
rng = np.random.default_rng(0)
rows, other = (Tensor(rng.uniform(0.1, 0.9, (2, 3)).astype(np.float32)) for _ in range(2))
cubes = Tensor(rng.standard_normal((2, 2, 3)).astype(np.float32))
square = Tensor(rng.standard_normal((1, 2, 2)).astype(np.float32))
images = Tensor(rng.standard_normal((1, 2, 3, 3)).astype(np.float32))
labels = Tensor([0, 2], ms.int32)
LAYERS = (
    (mint.nn.LogSoftmax(0), rows),
    (mint.nn.Softmax(), rows),
    (mint.nn.CrossEntropyLoss(), rows, labels),
    (mint.nn.CrossEntropyLoss(Tensor([1.0, 2.0, 0.5]), reduction="none"), rows, labels),
    (mint.nn.CrossEntropyLoss(label_smoothing=0.1), rows, other),
    (mint.nn.CrossEntropyLoss(Tensor([1.0, 2.0, 0.5]), reduction="sum"), rows, other),
    (mint.nn.ConstantPad1d((1, 2), 1.5), rows),
    (mint.nn.ConstantPad2d(1, 2), images),
    (mint.nn.ConstantPad3d(1, 0.5), images),
    (mint.nn.ZeroPad1d(1), cubes),
    (mint.nn.ZeroPad2d((1, -1, 0, 1)), images),
    (mint.nn.ZeroPad3d(1), images),
)


class Values(nn.Cell):
    """What has no gradient."""

    def construct(self, rows, labels):
        table = functional.one_hot(labels, 4), mint.arange(0, 5, dtype=ms.int32) + labels[0]
        made = mint.ones_like(rows), mint.zeros_like(rows, dtype=ms.int32), mint.full((2, 3), 1.5)
        places = mint.argmax(rows), mint.argmax(rows, 1), mint.argmax(rows, dim=0, keepdim=True)
        return table, made, places, functional.pad(labels, (1, 1), value=7)


class Places(nn.Cell):
    """How many there are is known only at run time."""

    def construct(self, rows):
        down, across = mint.nonzero(rows, as_tuple=True)
        return ops.cast(down, ms.float32), -across


class Functions(nn.Cell):
    """Functions of tensors of fractions."""

    def construct(self, cubes, rows, square):
        product = mint.baddbmm(square, cubes, ops.transpose(cubes, (0, 2, 1)), beta=0.5, alpha=2)
        product = product + mint.baddbmm(cubes[:1, :, :2], ops.transpose(cubes, (0, 2, 1))[:, :2], cubes[:, :, :2])
        around = functional.pad(rows, (1, 1), "circular"), functional.pad(cubes, (1, 2), "circular")
        return product.sum() + around[0].sum() + (around[1] * around[1]).sum() + mint.special.round(rows).sum()


class Loss(nn.Cell):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def construct(self, *inputs):
        return ops.sin(self.layer(*inputs)).sum()


for layer, *inputs in LAYERS:
    ops.grad(Loss(layer), 0)(*inputs)
Values()(rows, labels)
Places()(rows)
ops.grad(Functions(), (0, 1, 2))(cubes, rows, square)
