"""Pooling that gives places in another dtype than it says; gradients that are constants, with others and alone."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_device("CPU")
ms.set_seed(3)
rs = np.random.RandomState(3)


def D(*s):
    return Tensor(rs.randn(*s).astype(np.float32))


class P(nn.Cell):
    def __init__(self):
        super().__init__()
        self.m = ops.MaxPool3DWithArgmax((1, 2, 2), 1, 0)

    def construct(self, x):
        return self.m(x)


P()(D(1, 2, 1, 3, 3))


class S(nn.Cell):
    def __init__(self):
        super().__init__()
        self.c = nn.Conv2d(3, 4, 3, stride=2, pad_mode="pad", padding=1)
        self.bn = nn.BatchNorm2d(4)
        self.r = nn.ReLU()
        self.p = nn.MaxPool2d(3, 2, pad_mode="pad", padding=1)
        self.f = nn.Flatten()
        self.d = nn.Dense(4 * 3 * 3, 3)

    def construct(self, x):
        return self.d(self.f(self.p(self.r(self.bn(self.c(x))))))


net = S()
loss = nn.SoftmaxCrossEntropyWithLogits(True, "mean")
step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), nn.Momentum(net.trainable_params(), 0.1, 0.9))
step.set_train()
step(D(2, 3, 10, 10), Tensor([1, 2], ms.int32))


def whole(x):
    return x * ops.floor(x) + ops.trunc(x)


def up(x):
    return x * ops.ceil(x) + ops.round(x) * ops.sign(x)


for function in (whole, up):
    ms.grad(function)(D(2, 4))
