"""The AlexNet of MindSpore's Dump documents, with its width and its image size as parameters; one training step."""

import numpy as np

from harness import Tensor, float32, nn, ops
from tests.gate.networks.values import fill, tensor


def conv(in_channels, out_channels, kernel_size, stride=1):
    """A convolution that keeps the size (but for its stride), with a bias."""
    return nn.Conv2d(in_channels, out_channels, kernel_size, stride=stride, pad_mode="same", has_bias=True)


class AlexNet(nn.Cell):
    """Five convolutions and three dense layers.

    ``width`` 64, ``hidden`` 4096 and ``size`` 227 are the documents' network.
    """

    def __init__(self, classes=10, channel=3, width=64, hidden=4096, size=227, dropout=0.35):
        super().__init__()
        self.conv1 = conv(channel, width, 11, stride=4)
        self.conv2 = conv(width, 2 * width, 5)
        self.conv3 = conv(2 * width, 3 * width, 3)
        self.conv4 = conv(3 * width, 4 * width, 3)
        self.conv5 = conv(4 * width, 4 * width, 3)
        self.relu = ops.ReLU()
        self.max_pool2d = nn.MaxPool2d(kernel_size=3, stride=2, pad_mode="valid")
        self.flatten = nn.Flatten()
        side = -(-size // 4)
        for _ in range(3):
            side = (side - 3) // 2 + 1
        self.fc1 = nn.Dense(side * side * 4 * width, hidden)
        self.fc2 = nn.Dense(hidden, hidden)
        self.fc3 = nn.Dense(hidden, classes)
        self.dropout = nn.Dropout(p=dropout)

    def construct(self, x):
        x = self.max_pool2d(self.relu(self.conv1(x)))
        x = self.max_pool2d(self.relu(self.conv2(x)))
        x = self.relu(self.conv3(x))
        x = self.relu(self.conv4(x))
        x = self.max_pool2d(self.relu(self.conv5(x)))
        x = self.flatten(x)
        x = self.dropout(self.relu(self.fc1(x)))
        x = self.dropout(self.relu(self.fc2(x)))
        return self.fc3(x)


def play(msdump):
    """One step at 1/32 of the width; dropout is off, as its mask is drawn differently on every backend."""
    network = fill(AlexNet(width=2, hidden=32, size=67, dropout=0.0))
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Momentum(network.trainable_params(), 0.01, 0.9)
    labels = Tensor(np.array([3, 8], np.int32))
    msdump.train(network, loss, optimizer, [(tensor((2, 3, 67, 67), "image", float32), labels)])
