"""LeNet-5 on handwritten digits, trained three steps with Momentum."""

from pathlib import Path

import numpy as np

from harness import Tensor, nn
from tests.gate.networks.values import fill

DIGITS = Path(__file__).parents[1] / "data" / "digits.csv"


class LeNet5(nn.Cell):
    """Two convolutions with pooling, three dense layers; the first convolution keeps the size, as images are 8x8."""

    def __init__(self, classes=10):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="same")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="pad", padding=2, has_bias=True)
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(kernel_size=2, stride=2)
        self.flatten = nn.Flatten()
        self.fc1 = nn.Dense(16 * 2 * 2, 120)
        self.fc2 = nn.Dense(120, 84)
        self.fc3 = nn.Dense(84, classes)

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.pool(self.relu(self.conv2(x)))
        x = self.flatten(x)
        x = self.relu(self.fc1(x))
        x = self.relu(self.fc2(x))
        return self.fc3(x)


def digits():
    """All images, float32 (120, 1, 8, 8) in [0, 1], and their digits, int32 (120,)."""
    rows = np.loadtxt(DIGITS, delimiter=",", dtype=np.int32)
    return (rows[:, :64].reshape(-1, 1, 8, 8) / 16).astype(np.float32), rows[:, 64]


def play(msdump, batch=8):
    """Three batches."""
    network = fill(LeNet5())
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Momentum(network.trainable_params(), 0.05, 0.9)
    images, labels = digits()
    cuts = [slice(start, start + batch) for start in range(0, 3 * batch, batch)]
    msdump.train(network, loss, optimizer, [(Tensor(images[cut]), Tensor(labels[cut])) for cut in cuts])
