"""Gradients of a weight that a cell hands to others: where its contributions are added."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)


class Inner(nn.Cell):
    def construct(self, x):
        return ops.tanh(x)


class Other(nn.Cell):
    def construct(self, x):
        return ops.exp(x)


class Deep(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def construct(self, x):
        return ops.sin(self.inner(x))


class Holder(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first, self.second = Deep(), Other()
        self.weight = Parameter(Tensor(np.arange(6, dtype=np.float32)), name="weight")


class Before(Holder):
    def construct(self):
        y = self.first(self.weight)
        return y.sum() + (self.weight * 2).sum()


class Behind(Holder):
    def construct(self):
        y = self.weight * 2
        return y.sum() + self.first(x=self.weight).sum()


class Twice(Holder):
    def construct(self):
        y = self.first(self.weight)
        return self.second(self.weight).sum() + y.sum()


class Ran(Holder):
    def construct(self):
        y = self.second(self.weight * 2)
        return y.sum() + self.second(self.weight).sum()


class Loss(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def construct(self):
        return self.net()


for net in (Before, Behind, Twice, Ran):
    part = Loss(net())
    nn.TrainOneStepCell(part, nn.SGD(part.trainable_params(), 0.1))()
