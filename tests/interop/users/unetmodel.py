import mindspore as ms
import mindspore.dataset as ds
import mindspore.nn as nn
import mindspore.ops.operations as P
import numpy as np
from mindspore import Model, Tensor
from mindspore.nn import Cell
from mindspore.train.callback import LossMonitor

ms.set_seed(13)
np.random.seed(13)


def double(i, o):
    return nn.SequentialCell(
        [
            nn.Conv2d(i, o, 3, has_bias=True, pad_mode="same"),
            nn.BatchNorm2d(o),
            nn.ReLU(),
            nn.Conv2d(o, o, 3, has_bias=True, pad_mode="same"),
            nn.BatchNorm2d(o),
            nn.ReLU(),
        ]
    )


class Up(Cell):
    def __init__(self, i, o):
        super().__init__()
        self.up = nn.Conv2dTranspose(i, o, 2, stride=2, pad_mode="same")
        self.concat = P.Concat(axis=1)
        self.conv = double(2 * o, o)

    def construct(self, x, skip):
        x = self.up(x)
        return self.conv(self.concat((x, skip)))


class UNet(Cell):
    def __init__(self, classes=2, f=4):
        super().__init__()
        self.d1 = double(1, f)
        self.d2 = double(f, f * 2)
        self.mid = double(f * 2, f * 4)
        self.pool = nn.MaxPool2d(2, 2)
        self.u2 = Up(f * 4, f * 2)
        self.u1 = Up(f * 2, f)
        self.out = nn.Conv2d(f, classes, 1)

    def construct(self, x):
        a = self.d1(x)
        b = self.d2(self.pool(a))
        c = self.mid(self.pool(b))
        return self.out(self.u1(self.u2(c, b), a))


class DiceCE(nn.LossBase):
    def __init__(self, w=0.5):
        super().__init__()
        self.w = w
        self.softmax = nn.Softmax(axis=1)
        self.one_hot = nn.OneHot(depth=2, axis=1)
        self.ce = nn.CrossEntropyLoss(weight=Tensor([0.3, 0.7], ms.float32))

    def construct(self, logits, label):
        p = self.softmax(logits)
        t = self.one_hot(label)
        inter = (p * t).sum((2, 3))
        union = p.sum((2, 3)) + t.sum((2, 3))
        dice = 1 - ((2 * inter + 1.0) / (union + 1.0)).mean()
        return self.w * dice + (1 - self.w) * self.ce(logits, label)


class IoU(ms.train.Metric):
    def __init__(self):
        super().__init__()
        self.clear()

    def clear(self):
        self.i = self.u = 0

    def update(self, *inputs):
        p = self._convert_data(inputs[0]).argmax(1)
        y = self._convert_data(inputs[1])
        self.i += int(((p == 1) & (y == 1)).sum())
        self.u += int(((p == 1) | (y == 1)).sum())

    def eval(self):
        return self.i / max(self.u, 1)


x = np.random.rand(4, 1, 8, 8).astype(np.float32)
y = (x[:, 0] > 0.6).astype(np.int32)
data = ds.NumpySlicesDataset((x, y), ["x", "y"], shuffle=False).batch(2)
net = UNet()
opt = nn.Adam(net.trainable_params(), 1e-3, weight_decay=1e-4, loss_scale=128.0)
model = Model(net, DiceCE(), opt, loss_scale_manager=ms.FixedLossScaleManager(128.0, False), metrics={"iou": IoU()})
model.train(1, data, callbacks=[LossMonitor(1)], dataset_sink_mode=False)
print(model.eval(data, dataset_sink_mode=False))
