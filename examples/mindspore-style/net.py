"""A small classifier, written for MindSpore."""

from harness import nn


class Classifier(nn.Cell):
    """Two layers; [N, 4] to scores [N, 3]."""

    def __init__(self):
        super().__init__()
        self.hidden = nn.Dense(4, 8)
        self.norm = nn.LayerNorm((8,))
        self.relu = nn.ReLU()
        self.out = nn.Dense(8, 3)

    def construct(self, x):
        return self.out(self.relu(self.norm(self.hidden(x))))
