"""One graph for each of some operators: those whose kernels need workspaces, and views."""

import mindspore
import numpy as np
from mindspore import Tensor, nn, ops

mindspore.set_context(mode=mindspore.GRAPH_MODE)


def tensor(*shape, dtype=np.float32):
    return Tensor((np.arange(np.prod(shape)).reshape(shape) % 7 / 8 + 0.1).astype(dtype))


class Softmax(nn.Cell):
    def __init__(self, axis):
        super().__init__()
        self.softmax = ops.Softmax(axis)

    def construct(self, x):
        return self.softmax(x + x) * 2


class WithLogits(nn.Cell):
    def __init__(self, reduction):
        super().__init__()
        self.loss = ops.BCEWithLogitsLoss(reduction=reduction)

    def construct(self, x, y, weight, positive):
        return self.loss(x + x, y + y, weight, positive) * 2


class Absent(nn.Cell):
    def __init__(self, weight=None):
        super().__init__()
        self.loss = nn.BCEWithLogitsLoss(weight=weight)

    def construct(self, x, y):
        return self.loss(x + x, y + y) * 2


class Sorted(nn.Cell):
    def construct(self, x):
        values, places = ops.sort(x + x)
        return values * 2, places + 1


class Cumulated(nn.Cell):
    def construct(self, x):
        return ops.cumsum(x + x, 0) * ops.cumprod(x + x, 1)


class Parted(nn.Cell):
    def construct(self, x):
        first, second = ops.split(x + x, 2)
        return first * 2 + second


class Unstacked(nn.Cell):
    def construct(self, x):
        first, second, third = ops.unstack(x + x)
        return first * second + third


class Pooled(nn.Cell):
    def __init__(self):
        super().__init__()
        self.pool = nn.MaxPool2d(2, 2)

    def construct(self, x):
        return self.pool(x * x) * 2


class CrossEntropy(nn.Cell):
    def __init__(self):
        super().__init__()
        self.loss = nn.SoftmaxCrossEntropyWithLogits(sparse=False)

    def construct(self, x, y):
        return self.loss(x + x, y) * 2


class Views(nn.Cell):
    def construct(self, x):
        y = ops.expand_dims(ops.exp(x + x), 0)
        z = ops.squeeze(ops.exp(y))
        return ops.exp(ops.reshape(ops.expand_dims(z * 2, 1), (-1,)))


class ViewGivenBack(nn.Cell):
    def construct(self, x):
        y = ops.exp(x + x)
        return ops.reshape(y, (-1,)), y * 2


class ViewOfGivenBack(nn.Cell):
    def construct(self, x):
        y = ops.exp(x + x)
        return y, ops.exp(ops.reshape(y, (-1,)))


class ViewsOfViews(nn.Cell):
    def construct(self, x):
        y = ops.exp(x + x)
        z = ops.squeeze(ops.expand_dims(y, 0))
        return ops.exp(ops.reshape(z, (2, 8))), ops.exp(z) * ops.exp(y)


class Gradient(nn.Cell):
    def __init__(self, network):
        super().__init__()
        self.network = network
        self.grad = ops.GradOperation()

    def construct(self, *inputs):
        return self.grad(self.network)(*inputs)


for axis in (0, 1, -1):
    Softmax(axis)(tensor(3, 4, 5))
for reduction in ("mean", "sum", "none"):
    WithLogits(reduction)(tensor(2, 3), tensor(2, 3), tensor(2, 3), tensor(3))
Absent()(tensor(3, 5), tensor(3, 5))
Absent(tensor(3, 5))(tensor(3, 5), tensor(3, 5))
Sorted()(tensor(3, 4))
Cumulated()(tensor(3, 4))
Parted()(tensor(4, 4))
Unstacked()(tensor(3, 6))
Gradient(Pooled())(tensor(1, 2, 4, 4))
CrossEntropy()(tensor(3, 4), tensor(3, 4))
Views()(tensor(4, 4))
ViewGivenBack()(tensor(4, 4))
ViewOfGivenBack()(tensor(4, 4))
ViewsOfViews()(tensor(4, 4))
