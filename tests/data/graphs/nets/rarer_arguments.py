"""Several numbers of repeats, ``itemset``, constant tensors as orders, axes and rates, and a generator as a result."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(3)
x = Tensor(np.linspace(-1, 3, 6).astype(np.float32).reshape(2, 3))


class Repeats(nn.Cell):
    """One number, or one for each slice; slices of none are left out."""

    def __init__(self, repeats, axis=None):
        super().__init__()
        self.repeats, self.axis = repeats, axis

    def construct(self, x):
        return ops.sin(ops.repeat_interleave(x, self.repeats, self.axis)).sum()


class Items(nn.Cell):
    """One element replaced, by a place in the flat tensor and by one along each axis."""

    def construct(self, x):
        return (x.itemset(1, 9.0) * x.itemset((1, -1), 5)).sum()


class Upper(nn.Cell):
    """A diagonal."""

    def construct(self, x):
        return ops.sin(ops.triu(x * 2, Tensor(1))).sum()


class Length(nn.Cell):
    """An order that a matrix has: Frobenius' norm."""

    def __init__(self, order, keepdim):
        super().__init__()
        self.order, self.keepdim = order, keepdim

    def construct(self, x):
        return ops.norm(x * 2, self.order, keepdim=self.keepdim).sum()


class Dropped(nn.Cell):
    """A rate."""

    def construct(self, x):
        return ops.dropout(x * 2, Tensor(0.0)).sum()


class Several(nn.Cell):
    """A list, as a generator; logarithms of constants; axes."""

    def construct(self, x):
        held = x > 0
        logs = ops.log(Tensor([3, 4, 5])) + ops.log2(Tensor([4, 8, 1])) + Tensor([3, 7, 100]).log10()
        x = ops.squeeze(x.expand_dims(0), (Tensor(0),)) * logs
        return (each * 2 for each in (x, x + 1)), ops.masked_fill(held, held, False)


for net in (
    Repeats([1, 2], 0), Repeats((1, 2, 0), 1), Repeats([1, 2, 3, 0, 1, 2]), Repeats([2], 1), Repeats(1, 0), Items(),
    Upper(), Length(Tensor(1), False), Length(Tensor(float("inf")), True), Dropped(),
):  # fmt: skip
    ms.grad(net)(x)
Several()(x)
