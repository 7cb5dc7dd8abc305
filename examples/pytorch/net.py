"""A small convolutional network in PyTorch."""

import torch
from torch import nn


class Net(nn.Module):
    """[N, 1, 8, 8] to scores [N, 2]."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3)
        self.fc = nn.Linear(72, 2)

    def forward(self, x):
        return self.fc(torch.relu(self.conv(x)).flatten(1))
