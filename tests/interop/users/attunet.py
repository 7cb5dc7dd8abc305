"""UNet with attention gates on the skip connections; dice and cross entropy."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(1)


def conv(i, o, k=3):
    return nn.SequentialCell(nn.Conv2d(i, o, k, has_bias=True), nn.BatchNorm2d(o), nn.ReLU())


class Gate(nn.Cell):
    def __init__(self, g, x, inner):
        super().__init__()
        self.wg = nn.Conv2d(g, inner, 1, has_bias=True)
        self.wx = nn.Conv2d(x, inner, 1, has_bias=True)
        self.psi = nn.Conv2d(inner, 1, 1, has_bias=True)

    def construct(self, g, x):
        a = ops.sigmoid(self.psi(ops.relu(self.wg(g) + self.wx(x))))
        return x * a


class AttUNet(nn.Cell):
    def __init__(self, c=3):
        super().__init__()
        self.d1, self.d2, self.mid = conv(1, c), conv(c, 2 * c), conv(2 * c, 4 * c)
        self.pool = nn.MaxPool2d(2, 2)
        self.up2, self.up1 = nn.Conv2dTranspose(4 * c, 2 * c, 2, 2), nn.Conv2dTranspose(2 * c, c, 2, 2)
        self.g2, self.g1 = Gate(2 * c, 2 * c, c), Gate(c, c, 2)
        self.u2, self.u1 = conv(4 * c, 2 * c), conv(2 * c, c)
        self.out = nn.Conv2d(c, 1, 1, has_bias=True)

    def construct(self, x):
        a = self.d1(x)
        b = self.d2(self.pool(a))
        m = self.mid(self.pool(b))
        u = self.up2(m)
        u = self.u2(ops.concat([self.g2(u, b), u], 1))
        v = self.up1(u)
        v = self.u1(ops.concat([self.g1(v, a), v], 1))
        return self.out(v)


class DiceBCE(nn.Cell):
    def __init__(self):
        super().__init__()
        self.bce = nn.BCEWithLogitsLoss()

    def construct(self, logits, y):
        p = ops.sigmoid(logits)
        inter = (p * y).sum((1, 2, 3))
        dice = (2 * inter + 1) / (p.sum((1, 2, 3)) + y.sum((1, 2, 3)) + 1)
        return self.bce(logits, y) + 1 - dice.mean()


rng = np.random.RandomState(12)
net = AttUNet()
for p in net.trainable_params():
    if p.ndim == 4:
        p.set_data(Tensor(rng.randn(*p.shape) * 0.2, ms.float32))
x = Tensor(rng.rand(2, 1, 8, 8), ms.float32)
y = Tensor(rng.rand(2, 1, 8, 8) > 0.5, ms.float32)
step = nn.TrainOneStepCell(nn.WithLossCell(net, DiceBCE()), nn.Momentum(net.trainable_params(), 0.1, 0.9))
step.set_train()
for i in range(3):
    print(i, step(x, y))
net.set_train(False)
print(ops.sigmoid(net(x)).mean())
