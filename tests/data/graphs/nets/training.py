"""Training steps: the layers of a small convolutional network and every kind of optimizer."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn

ms.set_context(mode=ms.GRAPH_MODE)
image = Tensor(np.arange(2 * 8 * 8, dtype=np.float32).reshape(2, 1, 8, 8) / 64)
classes = Tensor(np.array([0, 2], np.int32))
x = Tensor(np.arange(8, dtype=np.float32).reshape(2, 4))
target = Tensor(np.ones((2, 3), np.float32))


class Convolutional(nn.Cell):
    """Convolution, batch normalisation, pooling, dense."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3, has_bias=True)
        self.bn = nn.BatchNorm2d(2)
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(2, 2)
        self.flatten = nn.Flatten()
        self.fc = nn.Dense(32, 3)

    def construct(self, x):
        return self.fc(self.flatten(self.pool(self.relu(self.bn(self.conv(x))))))


class Perceptron(nn.Cell):
    """Two dense layers."""

    def __init__(self):
        super().__init__()
        self.fc1 = nn.Dense(4, 5, activation="tanh")
        self.fc2 = nn.Dense(5, 3)

    def construct(self, x):
        return self.fc2(self.fc1(x))


def train(network, loss, optimizer, *batch):
    """One step."""
    step = nn.TrainOneStepCell(nn.WithLossCell(network, loss), optimizer(network.trainable_params()))
    step.set_train()(*batch)


sparse = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
train(Convolutional(), sparse, lambda p: nn.Momentum(p, 0.1, 0.9), image, classes)
train(Perceptron(), nn.MSELoss(), lambda p: nn.SGD(p, 0.1, momentum=0.9, weight_decay=0.01), x, target)
train(Perceptron(), nn.L1Loss(), lambda p: nn.Adam(p, 0.01), x, target)
train(Perceptron(), nn.MSELoss(), lambda p: nn.AdamWeightDecay(p, 0.01, weight_decay=0.1), x, target)
train(Perceptron(), nn.MSELoss(), lambda p: nn.Adam(p, 0.01, use_amsgrad=True), x, target)
