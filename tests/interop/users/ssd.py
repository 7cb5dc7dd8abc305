"""A small single-shot detector: two scales, smooth L1 and a focal loss over masks."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_seed(21)


class Head(nn.Cell):
    def __init__(self, channels, classes):
        super().__init__()
        self.classes = classes
        self.loc = nn.Conv2d(channels, 4 * 2, 3, pad_mode="same")
        self.cls = nn.Conv2d(channels, classes * 2, 3, pad_mode="same")

    def construct(self, x):
        b = x.shape[0]
        loc = ops.transpose(self.loc(x), (0, 2, 3, 1)).reshape(b, -1, 4)
        cls = ops.transpose(self.cls(x), (0, 2, 3, 1)).reshape(b, -1, self.classes)
        return loc, cls


class SSD(nn.Cell):
    def __init__(self):
        super().__init__()
        self.stem = nn.SequentialCell([nn.Conv2d(3, 6, 3, 2), nn.BatchNorm2d(6), nn.ReLU6()])
        self.down = nn.SequentialCell(
            [nn.Conv2d(6, 6, 3, 2, group=6, pad_mode="pad", padding=1), nn.Conv2d(6, 8, 1), nn.ReLU()]
        )
        self.h1, self.h2 = Head(6, 3), Head(8, 3)
        self.cat = ops.Concat(1)

    def construct(self, x):
        a = self.stem(x)
        b = self.down(a)
        la, ca = self.h1(a)
        lb, cb = self.h2(b)
        return self.cat((la, lb)), self.cat((ca, cb))


class WithLoss(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.onehot = ops.OneHot()
        self.smooth = nn.SmoothL1Loss(reduction="none")

    def construct(self, image, loc, label):
        ploc, pcls = self.net(image)
        mask = ops.cast(ops.greater(label, 0), ms.float32)
        count = ops.maximum(mask.sum(), 1.0)
        box = (self.smooth(ploc, loc).mean(-1) * mask).sum() / count
        target = self.onehot(label, 3, Tensor(1.0, ms.float32), Tensor(0.0, ms.float32))
        p = ops.sigmoid(pcls)
        pt = p * target + (1 - p) * (1 - target)
        focal = -(0.25 * ops.pow(1 - pt, 2.0) * ops.log(pt + 1e-6)).sum() / count
        return box + focal


net = SSD()
train = nn.TrainOneStepCell(WithLoss(net), nn.Momentum(net.trainable_params(), 0.05, 0.9))
train.set_train()
r = np.random.RandomState(2)
image = Tensor(r.rand(2, 3, 16, 16), ms.float32)
loc, cls = net(image)
print(loc.shape, cls.shape)
target = Tensor(r.randn(*loc.shape), ms.float32)
label = Tensor(r.randint(0, 3, cls.shape[:2]), ms.int32)
for _ in range(3):
    print(f"{float(train(image, target, label).asnumpy()):.4f}")
