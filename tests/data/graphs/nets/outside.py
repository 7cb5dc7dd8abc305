"""Gradients that stand in ``Default``: of ``ops.log_softmax``, not of the layer and the operator."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.random.default_rng(1).standard_normal((2, 4)).astype(np.float32))


class Inner(nn.Cell):
    def construct(self, x):
        return ops.log_softmax(x, -1)


class Net(nn.Cell):
    def __init__(self, what):
        super().__init__()
        self.what = what
        self.dense = nn.Dense(4, 3, weight_init="ones", bias_init="zeros")
        self.inner, self.layer, self.operator = Inner(), nn.LogSoftmax(-1), ops.LogSoftmax(-1)

    def construct(self, x):
        hidden = self.dense(x)
        if self.what == 0:
            return ops.log_softmax(hidden).sum()
        if self.what == 1:
            return ops.log_softmax(hidden, 0).sum() + self.inner(hidden * 2).sum()
        if self.what == 2:
            return self.layer(hidden).sum()
        return self.operator(hidden).sum()


for what in range(4):
    net = Net(what)
    nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.1))(x)
