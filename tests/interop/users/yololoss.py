import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(4)


class Iou(nn.Cell):
    def __init__(self):
        super().__init__()
        self.min = ops.Minimum()
        self.max = ops.Maximum()
        self.sub = ops.Sub()

    def construct(self, box1, box2):
        box1_xy = box1[..., :2]
        box1_wh = box1[..., 2:4]
        box1_mins = box1_xy - box1_wh / ops.scalar_to_tensor(2.0)
        box1_maxs = box1_xy + box1_wh / ops.scalar_to_tensor(2.0)
        box2_mins = box2[..., :2] - box2[..., 2:4] / 2
        box2_maxs = box2[..., :2] + box2[..., 2:4] / 2
        mins = self.max(box1_mins, box2_mins)
        maxs = self.min(box1_maxs, box2_maxs)
        wh = self.max(self.sub(maxs, mins), ops.scalar_to_tensor(0.0))
        inter = ops.Squeeze(-1)(wh[..., 0:1]) * ops.Squeeze(-1)(wh[..., 1:2])
        a1 = ops.Squeeze(-1)(box1_wh[..., 0:1]) * ops.Squeeze(-1)(box1_wh[..., 1:2])
        a2 = box2[..., 2] * box2[..., 3]
        return inter / (a1 + a2 - inter + 1e-06)


class Giou(nn.Cell):
    def construct(self, b1, b2):
        iw = ops.minimum(b1[:, 2], b2[:, 2]) - ops.maximum(b1[:, 0], b2[:, 0])
        ih = ops.minimum(b1[:, 3], b2[:, 3]) - ops.maximum(b1[:, 1], b2[:, 1])
        inter = ops.clip_by_value(iw, 0.0, 10000.0) * ops.clip_by_value(ih, 0, 10000.0)

        def area(b):
            return (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])

        union = area(b1) + area(b2) - inter
        cw = ops.maximum(b1[:, 2], b2[:, 2]) - ops.minimum(b1[:, 0], b2[:, 0])
        ch = ops.maximum(b1[:, 3], b2[:, 3]) - ops.minimum(b1[:, 1], b2[:, 1])
        c = cw * ch + 1e-07
        return inter / (union + 1e-07) - (c - union) / c


class Head(nn.Cell):
    def __init__(self, anchors, classes, grid):
        super().__init__()
        self.na, self.nc, self.grid = (len(anchors), classes, grid)
        self.conv = nn.Conv2d(4, self.na * (5 + classes), 1, has_bias=True)
        self.anchors = Tensor(anchors, ms.float32)
        gx, gy = np.meshgrid(np.arange(grid), np.arange(grid))
        self.gxy = Tensor(np.stack([gx, gy], -1)[:, :, None], ms.float32)
        self.tile = ops.Tile()
        self.iou = Iou()
        self.bce = ops.SigmoidCrossEntropyWithLogits()
        self.concat = ops.Concat(axis=-1)

    def decode(self, raw):
        xy = (ops.sigmoid(raw[..., 0:2]) + self.gxy) / self.grid
        wh = ops.exp(raw[..., 2:4]) * self.anchors
        return (self.concat((xy, wh)), raw[..., 4:5], raw[..., 5:])

    def construct(self, feat, target):
        b = feat.shape[0]
        raw = self.conv(feat).reshape((b, self.na, 5 + self.nc, self.grid, self.grid)).transpose((0, 3, 4, 1, 2))
        box, conf, cls = self.decode(raw)
        obj = target[..., 4:5]
        iou = self.iou(box, target[..., :4])
        ignore = ops.stop_gradient((iou.expand_dims(-1) < 0.5).astype(ms.float32))
        scale = 2.0 - target[..., 2:3] * target[..., 3:4]
        lbox = (obj * scale * ops.square(box - target[..., :4])).sum()
        lconf = self.bce(conf, obj)
        lconf = (obj * lconf + (1 - obj) * lconf * ignore).sum()
        lcls = (obj * self.bce(cls, target[..., 5:])).sum()
        return (lbox + lconf + lcls) / b


rng = np.random.RandomState(0)
feat = Tensor(rng.randn(2, 4, 3, 3).astype(np.float32))
tgt = np.zeros((2, 3, 3, 2, 7), np.float32)
tgt[0, 1, 2, 0] = [0.8, 0.5, 0.3, 0.2, 1, 1, 0]
tgt[1, 0, 0, 1] = [0.2, 0.1, 0.5, 0.4, 1, 0, 1]
head = Head([[0.3, 0.2], [0.6, 0.5]], 2, 3)
net = nn.TrainOneStepCell(head, nn.Momentum(head.trainable_params(), 0.01, 0.9), sens=2.0)
for i in range(4):
    print(i, net(feat, Tensor(tgt)))
g = Giou()
b1, b2 = (Tensor([[0.0, 0, 2, 2], [1, 1, 3, 4]]), Tensor([[1.0, 1, 3, 3], [5, 5, 6, 7]]))
print(g(b1, b2))


def g_loss(a, b):
    return (1 - g(a, b)).sum()


print(ms.grad(g_loss)(b1, b2))
print(ops.iou(b1, b2), ops.IOU(mode="iof")(b1, b2))
boxes = Tensor([[100.0, 100, 200, 200, 0.9], [105, 105, 205, 205, 0.8], [300, 300, 350, 350, 0.7]])
o, idx, m = ops.NMSWithMask(0.5)(boxes)
print(idx, m)


class Center(nn.Cell):
    def __init__(self, k, d):
        super().__init__()
        self.centers = Parameter(Tensor(np.zeros((k, d)), ms.float32), name="centers", requires_grad=False)

    def construct(self, f, y):
        c = ops.gather(self.centers, y, 0)
        diff = c - f
        self.centers = ops.depend(self.centers, ops.ScatterSub()(self.centers, y, 0.5 * diff))
        return 0.5 * ops.square(diff).sum(1).mean()


c = Center(3, 2)
for _ in range(3):
    print(c(Tensor([[1.0, 2], [3, 4], [1, 0]]), Tensor([0, 2, 0], ms.int32)), c.centers.asnumpy().ravel())
