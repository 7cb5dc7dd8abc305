"""PointNet with a T-Net, classification of random clouds."""

import mindspore as ms
import mindspore.nn as nn
import mindspore.ops as ops
import numpy as np
from mindspore import Tensor

ms.set_seed(31)
np.random.seed(31)


class TNet(nn.Cell):
    def __init__(self, k):
        super().__init__()
        self.k = k
        self.conv1 = nn.Conv1d(k, 8, 1, has_bias=True)
        self.conv2 = nn.Conv1d(8, 16, 1, has_bias=True)
        self.bn1 = nn.BatchNorm1d(8)
        self.bn2 = nn.BatchNorm1d(16)
        self.fc1 = nn.Dense(16, 8)
        self.fc2 = nn.Dense(8, k * k)
        self.eye = Tensor(np.eye(k).astype(np.float32).reshape(1, k * k))

    def norm(self, bn, x):
        b, c, n = x.shape
        y = bn(x.transpose(0, 2, 1).reshape(b * n, c))
        return y.reshape(b, n, c).transpose(0, 2, 1)

    def construct(self, x):
        x = ops.relu(self.norm(self.bn1, self.conv1(x)))
        x = ops.relu(self.norm(self.bn2, self.conv2(x)))
        x = ops.max(x, 2)[0]
        x = self.fc2(ops.relu(self.fc1(x))) + self.eye
        return x.view(-1, self.k, self.k)


class PointNet(nn.Cell):
    def __init__(self, classes=3):
        super().__init__()
        self.tnet = TNet(3)
        self.conv1 = nn.Conv1d(3, 8, 1, has_bias=True)
        self.conv2 = nn.Conv1d(8, 12, 1, has_bias=True)
        self.drop = nn.Dropout(p=0.0)
        self.head = nn.SequentialCell(nn.Dense(12, 8), nn.ReLU(), nn.Dense(8, classes))

    def construct(self, pts):
        t = self.tnet(pts.swapaxes(1, 2))
        x = ops.bmm(pts, t).swapaxes(1, 2)
        x = ops.relu(self.conv1(x))
        x = self.conv2(x)
        x = ops.amax(x, axis=-1)
        return self.head(self.drop(x)), t


def regular(t):
    k = t.shape[1]
    d = ops.matmul(t, t.swapaxes(1, 2)) - ops.eye(k, k, ms.float32)
    return ops.norm(d, dim=(1, 2)).mean()


net = PointNet()
net.set_train()
opt = nn.Adam(net.trainable_params(), learning_rate=0.005)
ce = nn.CrossEntropyLoss()


def forward(p, y):
    logits, t = net(p)
    return ce(logits, y) + 0.001 * regular(t), logits


step = ms.value_and_grad(forward, None, opt.parameters, has_aux=True)
pts = Tensor(np.random.randn(4, 10, 3), ms.float32)
y = Tensor(np.array([0, 1, 2, 1]), ms.int32)
for i in range(3):
    (loss, logits), grads = step(pts, y)
    opt(grads)
    print(f"step {i} loss {loss.asnumpy():.5f} hits {int((logits.argmax(1) == y).sum())}")
