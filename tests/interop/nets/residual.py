"""Residual blocks that add in place, as tutorials write them: run forward, or trained with ``train``."""

import sys

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_device("CPU")
ms.set_seed(1)


class Block(nn.Cell):
    def __init__(self, channels, out):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, out, 3, weight_init="normal")
        self.norm1 = nn.BatchNorm2d(out)
        self.conv2 = nn.Conv2d(out, out, 3, weight_init="normal")
        self.norm2 = nn.BatchNorm2d(out)
        self.relu = nn.ReLU()
        self.shortcut = nn.Conv2d(channels, out, 1, weight_init="normal") if channels != out else None

    def construct(self, x):
        identity = x if self.shortcut is None else self.shortcut(x)
        out = self.relu(self.norm1(self.conv1(x)))
        out = self.norm2(self.conv2(out))
        out += identity
        return self.relu(out)


class Residual(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = Block(2, 4)
        self.second = Block(4, 4)
        self.seen = Parameter(Tensor(np.zeros(3, np.float32)), name="seen")
        self.dense = nn.Dense(4, 3, weight_init="normal")

    def construct(self, x):
        out = self.dense(self.second(self.first(x)).mean((2, 3)))
        self.seen += ops.stop_gradient(out).sum(0)
        out *= 2
        return out


class Loss(nn.Cell):
    def __init__(self):
        super().__init__()
        self.entropy = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")

    def construct(self, logits, labels):
        loss = self.entropy(logits, labels)
        loss += 0.01 * ops.square(logits).mean()
        return loss


net = Residual()
x = Tensor(np.random.RandomState(0).randn(2, 2, 6, 6).astype(np.float32))
labels = Tensor(np.array([0, 2], np.int32))
if "train" in sys.argv[1:]:
    step = nn.TrainOneStepCell(nn.WithLossCell(net, Loss()), nn.Momentum(net.trainable_params(), 0.1, 0.9))
    step.set_train()
    for _ in range(2):
        print(step(x, labels))
else:
    # Outside training MindSpore leaves two more outputs of BatchNorm unwritten.
    net.set_train()
    for _ in range(2):
        print(net(x))
