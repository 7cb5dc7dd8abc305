"""Reads of parameters between the updates of normalisations, before an optimizer updates each of them."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.arange(32, dtype=np.float32).reshape(2, 1, 4, 4))
y = Tensor(np.array([1, 0], np.int32))


class Block(nn.Cell):
    """A convolution with bias and its normalisation."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, 3, has_bias=True)
        self.norm = nn.BatchNorm2d(outputs)

    def construct(self, x):
        return ops.relu(self.norm(self.conv(x)))


class Net(nn.Cell):
    """Two blocks in a row."""

    def __init__(self):
        super().__init__()
        self.first = Block(1, 2)
        self.second = Block(2, 2)
        self.last = nn.Dense(2, 2)

    def construct(self, x):
        return self.last(ops.mean(self.second(self.first(x)), (2, 3)))


net = Net()
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), nn.Adam(net.trainable_params(), 0.1))
step.set_train()
step(x, y)
