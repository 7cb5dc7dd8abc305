"""Forms whose crossings are measured: the row of ``harness.framework.observed`` that each shows, and its expression.

A form's crossing is the least depth, in cells, of an Atan beside it, at which the gradient of an Atan before it comes
first: what has more function graphs behind it is further from the result.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple


class Form(NamedTuple):
    """A way to call a function, a method or a layer.

    Attributes:
        row: name of the row it shows; ``KEYWORDS`` for what a keyword adds.
        expression: of ``y``, as it stands in ``construct``; ``self.layer`` is ``layer``.
        layer: expression that makes the layer.
        shape: of ``y``; six elements.
    """

    row: Any
    expression: str
    layer: str = "None"
    shape: tuple[int, ...] = (1, 6)


FORMS = (
    Form("ops.amax", "ops.amax(y)"),
    Form("ops.amin", "ops.amin(y)"),
    Form("ops.argmax", "ops.argmax(y)"),
    Form("ops.max", "ops.max(y)[0]"),
    Form("ops.min", "ops.min(y)[0]"),
    Form(("ops.max", "axis"), "ops.max(y, 1)[0]"),
    Form("ops.var", "ops.var(y)"),
    Form("ops.std", "ops.std(y)"),
    Form("ops.norm", "ops.norm(y)"),
    Form("ops.prod", "ops.prod(y)"),
    Form("ops.topk", "ops.topk(y, 2)[0]"),
    Form("ops.sort", "ops.sort(y)[0]"),
    Form("ops.dropout", "ops.dropout(y, 0.5)"),
    Form("ops.cumsum", "ops.cumsum(y, 1)"),
    Form("ops.logaddexp", "ops.logaddexp(y, y)"),
    Form("ops.gelu", 'ops.gelu(y, "tanh")'),
    Form("ops.leaky_relu", "ops.leaky_relu(y)"),
    Form("ops.clip", "ops.clip(y, 0.2, 0.8)"),
    Form("ops.div", "ops.div(y, x)"),
    Form("ops.chunk", "ops.chunk(y, 2, 1)"),
    Form("ops.concat", "ops.concat((y, y), 1)"),
    Form("ops.cat", "ops.cat((y, y), 1)"),
    Form("ops.split", "ops.split(y, 3, 1)"),
    Form("ops.stack", "ops.stack((y, y))"),
    Form("ops.hstack", "ops.hstack((y, y))"),
    Form("ops.repeat_interleave", "ops.repeat_interleave(y, 2, 1)"),
    Form("ops.pad", "ops.pad(y, (1, 1))"),
    Form("ops.l1_loss", "ops.l1_loss(y, x)"),
    Form("ops.mse_loss", "ops.mse_loss(y, x)"),
    Form("ops.smooth_l1_loss", "ops.smooth_l1_loss(y, x)"),
    Form("ops.cross_entropy", "ops.cross_entropy(y, Tensor([1], ms.int32))"),
    Form("Tensor.add", "y.add(y)"),
    Form("Tensor.clamp", "y.clamp(0.2, 0.8)"),
    Form("Tensor.prod", "y.prod(1)"),
    Form("Tensor.pow", "y.pow(2)"),
    Form("Tensor.transpose", "y.transpose(1, 0)"),
    Form("Tensor.expand_dims", "y.expand_dims(0)"),
    Form("Tensor.flatten", "y.flatten()"),
    Form("Tensor.split", "y.split(3, 1)"),
    Form("Tensor.matmul", "y.matmul(y.T)"),
    Form("Tensor.__matmul__", "y @ y.T"),
    Form("Tensor.tile", "y.tile((2, 1))"),
    Form("Tensor.cumsum", "y.cumsum(1)"),
    Form("Tensor.gather", "y.gather(Tensor([0], ms.int32), 1)"),
    Form("Tensor.argmax", "y.argmax(1)"),
    Form("Tensor.softmax", "y.softmax(1)"),
    Form("Tensor.masked_fill", "y.masked_fill(y > 1.2, 0.0)"),
    Form("Tensor.where", "y.where(y > 1.2, y)"),
    Form("Tensor.norm", "y.norm()"),
    Form("Tensor.chunk", "y.chunk(2, 1)"),
    Form("Tensor.__abs__", "abs(y)"),
    Form(("Tensor.astype", "dtype"), "y.astype(dtype=ms.float16)"),
    Form("Tensor.__ne__", "y != 3.0"),
    Form("Tensor.__lt__", "y < 3.0"),
    Form("Tensor.max", "y.max()"),
    Form("Tensor.min", "y.min()"),
    Form(("Tensor.max", "axis"), "y.max(1)"),
    Form(("Tensor.min", "axis"), "y.min(axis=1)"),
    Form("Tensor.sum", "y.sum()"),
    Form(("Tensor.sum", "dim"), "y.sum(dim=1)"),
    Form("Tensor.std", "y.std()"),
    Form("Tensor.var", "y.var(1)"),
    Form(("Tensor.__getitem__", "int"), "y[0]"),
    Form(("Tensor.__getitem__", "NoneType"), "y[None]"),
    Form(("Tensor.__getitem__", "Tensor"), "y[Tensor([0], ms.int32)]"),
    Form(("Tensor.__getitem__", "slice"), "y[0:1]"),
    Form(("Tensor.__getitem__", "tuple"), "y[:, 1:3]"),
    Form(("ops.min", "axis"), "ops.min(y, 1)[0]"),
    Form("KEYWORDS", "ops.mean(y, axis=1)"),
    Form("KEYWORDS", "ops.amax(y, axis=1)"),
    Form("KEYWORDS", "ops.concat((y, y), axis=1)"),
    Form("KEYWORDS", "ops.softmax(y, axis=-1)"),
    Form("KEYWORDS", "ops.squeeze(y, axis=0)"),
    Form("ops.cross_entropy, labels", "ops.cross_entropy(y, Tensor([1], ms.int32))"),
    Form("ops.cross_entropy, softmax", "ops.cross_entropy(y, Tensor([1], ms.int32))"),
    Form("AvgPool2d", "self.layer(y)", "nn.AvgPool2d(1)", (1, 6, 1, 1)),
    Form("BatchNorm1d", "self.layer(y)", "nn.BatchNorm1d(6)"),
    Form("BatchNorm2d", "self.layer(y)", "nn.BatchNorm2d(6)", (1, 6, 1, 1)),
    Form("BatchNorm3d", "self.layer(y)", "nn.BatchNorm3d(6)", (1, 6, 1, 1, 1)),
    Form("Conv2dTranspose", "self.layer(y)", 'nn.Conv2dTranspose(6, 6, 1, weight_init="ones")', (1, 6, 1, 1)),
    Form("Dropout", "self.layer(y)", "nn.Dropout(p=0.5).set_train()"),
    Form("Flatten", "self.layer(y)", "nn.Flatten()"),
    Form("GELU", "self.layer(y)", "nn.GELU()"),
    Form("LayerNorm", "self.layer(y)", "nn.LayerNorm((6,))"),
    Form("MaxPool2d", "self.layer(y)", "nn.MaxPool2d(1)", (1, 6, 1, 1)),
    Form("LSTM", "self.layer(y)[0]", "nn.LSTM(6, 6)", (1, 1, 6)),
    Form("_DynamicLSTMCPUGPU", "self.layer(y)[0]", "nn.LSTM(6, 6)", (1, 1, 6)),
    Form("GRU", "self.layer(y)[0]", "nn.GRU(6, 6)", (1, 1, 6)),
    Form("_DynamicGRUCPUGPU", "self.layer(y)[0]", "nn.GRU(6, 6)", (1, 1, 6)),
    Form("RNN", "self.layer(y)[0]", "nn.RNN(6, 6)", (1, 1, 6)),
    Form("_DynamicRNNTanh", "self.layer(y)[0]", "nn.RNN(6, 6)", (1, 1, 6)),
    Form("_DynamicRNNRelu", "self.layer(y)[0]", 'nn.RNN(6, 6, nonlinearity="relu")', (1, 1, 6)),
)


def classes(numbers: Collection[int] = range(len(FORMS))) -> str:
    """The text of a script with a class ``Form<N>`` for each of these forms and ``gradient(N, depth)``.

    That compiles the gradient of a network with one Atan before the form and another one, so many cells deep, beside.
    """
    return HEAD + "".join(
        CLASS.format(number=number, layer=form.layer, expression=form.expression, shape=form.shape)
        for number, form in enumerate(FORMS)
        if number in numbers
    )


HEAD = """
import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)


class Curve(nn.Cell):
    def __init__(self):
        super().__init__()
        self.curve = ops.Atan()

    def construct(self, x):
        return self.curve(x)


class Deep(nn.Cell):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def construct(self, x):
        return self.inner(x)


class Beside(nn.Cell):
    def __init__(self, depth, layer):
        super().__init__()
        self.before = Curve()
        self.beside = Curve()
        self.layer = layer
        for _ in range(1, depth):
            self.beside = Deep(self.beside)


class Gradient(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def construct(self, x, z):
        return ms.grad(self.net, (0, 1))(x, z)


def gradient(number, depth):
    cls = globals()[f"Form{number}"]
    x = Tensor(np.arange(6, dtype=np.float32).reshape(cls.shape) / 8 + 1)
    Gradient(cls(depth, cls.made()))(x, x + 1)

"""

CLASS = """
class Form{number}(Beside):
    shape = {shape}

    @staticmethod
    def made():
        return {layer}

    def construct(self, x, z):
        y = self.before(x)
        return {expression}, self.beside(z)

"""
