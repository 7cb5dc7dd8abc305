"""ResNet-18 and a small BERT encoder, in PyTorch's own layers."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Block(nn.Module):
    """Two 3x3 convolutions beside a shortcut."""

    def __init__(self, given: int, wanted: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(given, wanted, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(wanted)
        self.conv2 = nn.Conv2d(wanted, wanted, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(wanted)
        self.shortcut = nn.Sequential()
        if stride != 1 or given != wanted:
            self.shortcut = nn.Sequential(nn.Conv2d(given, wanted, 1, stride, bias=False), nn.BatchNorm2d(wanted))

    def forward(self, x: Tensor) -> Tensor:
        out = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(out)) + self.shortcut(x))


class ResNet18(nn.Module):
    """ResNet-18 with its first layers for images of [3, 224, 224]."""

    def __init__(self, classes: int = 10) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        widths = ((64, 64, 1), (64, 128, 2), (128, 256, 2), (256, 512, 2))
        for number, (given, wanted, stride) in enumerate(widths, 1):
            setattr(self, f"layer{number}", nn.Sequential(Block(given, wanted, stride), Block(wanted, wanted, 1)))
        self.fc = nn.Linear(512, classes)

    def forward(self, x: Tensor) -> Tensor:
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(x.mean((2, 3)))


class SelfAttention(nn.Module):
    """Several heads of scaled dot products."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.output = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        q, k, v = (
            made(x).view(batch, length, self.heads, width // self.heads).transpose(1, 2)
            for made in (self.query, self.key, self.value)
        )
        scores = torch.softmax(q @ k.transpose(-2, -1) / (width // self.heads) ** 0.5, -1)
        return self.output((scores @ v).transpose(1, 2).reshape(batch, length, width))


class Layer(nn.Module):
    """Attention and two dense layers, each beside a shortcut."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention = SelfAttention(width, heads)
        self.norm1 = nn.LayerNorm(width)
        self.dense1 = nn.Linear(width, 4 * width)
        self.dense2 = nn.Linear(4 * width, width)
        self.norm2 = nn.LayerNorm(width)

    def forward(self, x: Tensor) -> Tensor:
        x = self.norm1(x + self.attention(x))
        return self.norm2(x + self.dense2(F.gelu(self.dense1(x))))


class Bert(nn.Module):
    """A BERT encoder that predicts every token; ids int64 [batch, length] to scores [batch, length, words]."""

    def __init__(self, words: int = 1000, length: int = 128, width: int = 256, layers: int = 4, heads: int = 4) -> None:
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.positions = nn.Embedding(length, width)
        self.norm = nn.LayerNorm(width)
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.head = nn.Linear(width, words)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.norm(self.words(ids) + self.positions(torch.arange(ids.shape[1])))
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


class VisionTransformer(nn.Module):
    """A vision transformer of 0.8 million parameters; images [batch, 3, 64, 64] to scores [batch, classes]."""

    def __init__(self, width: int = 128, layers: int = 4, heads: int = 4, classes: int = 10) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, 8, 8)
        self.positions = nn.Parameter(torch.zeros(1, 64, width))
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.head = nn.Linear(width, classes)

    def forward(self, x: Tensor) -> Tensor:
        x = self.patches(x).flatten(2).transpose(1, 2) + self.positions
        for layer in self.layers:
            x = layer(x)
        return self.head(x.mean(1))


def perceptron() -> nn.Module:
    """Three dense layers, 7 thousand parameters; [batch, 32] to [batch, 10]."""
    return nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
