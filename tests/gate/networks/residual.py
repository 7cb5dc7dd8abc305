"""A residual block with batch normalisation, trained two steps with Momentum and weight decay."""

import numpy as np

from harness import Tensor, float32, nn
from tests.gate.networks.values import fill, tensor


class ResidualBlock(nn.Cell):
    """Two 3x3 convolutions beside a 1x1 one, as where a ResNet halves the image."""

    def __init__(self, in_channels, out_channels, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, out_channels, 3, stride=stride, pad_mode="same")
        self.bn1 = nn.BatchNorm2d(out_channels)
        self.conv2 = nn.Conv2d(out_channels, out_channels, 3, pad_mode="same")
        self.bn2 = nn.BatchNorm2d(out_channels)
        self.relu = nn.ReLU()
        self.down_sample = nn.SequentialCell(
            nn.Conv2d(in_channels, out_channels, 1, stride=stride, pad_mode="valid"), nn.BatchNorm2d(out_channels)
        )

    def construct(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return self.relu(out + self.down_sample(x))


class Classifier(nn.Cell):
    """The block, the mean of each channel, and a dense layer."""

    def __init__(self):
        super().__init__()
        self.block = ResidualBlock(3, 6, 2)
        self.fc = nn.Dense(6, 4)

    def construct(self, x):
        return self.fc(self.block(x).mean((2, 3)))


def play(msdump):
    """Two batches of 4 images of 8x8."""
    network = fill(Classifier())
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Momentum(network.trainable_params(), 0.1, 0.9, weight_decay=0.0625)
    labels = Tensor(np.array([0, 3, 1, 2], np.int32))
    msdump.train(network, loss, optimizer, [(tensor((4, 3, 8, 8), f"image{i}", float32), labels) for i in range(2)])
