"""The small network of the dump configuration cases: ``config_net.py STEPS [fwd]``; trains, or runs forward only."""

import sys

import mindspore as ms
import numpy as np
from mindspore import nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_device("CPU")


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 4, 3, pad_mode="same", has_bias=True)
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(2, 2)
        self.flatten = nn.Flatten()
        self.fc = nn.Dense(64, 10)
        self.add = ops.Add()

    def construct(self, x):
        x = self.conv1(x)
        x = self.relu(x)
        x = self.pool(x)
        x = self.flatten(x)
        x = self.fc(x)
        return self.add(x, x)


net = Net()
forward = sys.argv[2:] == ["fwd"]
if forward:
    net.set_train(False)
else:
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), nn.Momentum(net.trainable_params(), 0.01, 0.9))
    step.set_train()
for i in range(int(sys.argv[1])):
    x = ms.Tensor((np.arange(128) * (5 + i) % 23 / 8 - 1.25).reshape(2, 1, 8, 8).astype(np.float32))
    result = net(x) if forward else step(x, ms.Tensor(np.array([1, 2], np.int32)))
    result.asnumpy()
