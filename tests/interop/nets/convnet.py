"""A convolutional network trained three steps with Momentum."""

import mindspore as ms
import numpy as np
from mindspore import nn

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_device("CPU")


class ConvNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 2, 3, pad_mode="valid")
        self.conv2 = nn.Conv2d(2, 3, 3, pad_mode="same", has_bias=True)
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(2, 2)
        self.flatten = nn.Flatten()
        self.fc1 = nn.Dense(27, 6)
        self.fc2 = nn.Dense(6, 4)

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.flatten(self.relu(self.conv2(x)))
        return self.fc2(self.relu(self.fc1(x)))


net = ConvNet()
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), nn.Momentum(net.trainable_params(), 0.1, 0.9))
step.set_train()
for i in range(3):
    x = (np.arange(128) * (7 + i) % 19 / 8 - 1).reshape(2, 1, 8, 8).astype(np.float32)
    print(step(ms.Tensor(x), ms.Tensor(np.array([1, 2], np.int32))))
