import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore.ops import operations as P

ms.set_seed(0)
ms.set_context(mode=ms.GRAPH_MODE)


class Head(nn.Cell):
    def __init__(self):
        super().__init__()
        self.c = nn.Conv2d(3, 8, 3)
        self.cls = nn.Conv2d(8, 2, 1)
        self.box = nn.Conv2d(8, 4, 1)
        self.up = P.ResizeNearestNeighbor((8, 8))
        self.relu = P.ReLU()

    def construct(self, x):
        f = self.up(self.relu(self.c(x)))
        return self.cls(f), self.box(f)


class Loss(nn.Cell):
    def __init__(self, n):
        super().__init__()
        self.n = n
        self.ce = P.SigmoidCrossEntropyWithLogits()
        self.l1 = P.SmoothL1Loss(1.0)
        self.s = P.ReduceSum()
        self.m = P.ReduceMean()

    def construct(self, x, c, b):
        p, q = self.n(x)
        return self.m(self.ce(p, c)) + self.m(self.l1(q, b))


r = np.random.RandomState(0)
net = Head()
step = nn.TrainOneStepCell(Loss(net), nn.Momentum(net.trainable_params(), 0.1, 0.9, weight_decay=1e-4))
x = Tensor(r.randn(1, 3, 4, 4).astype(np.float32))
c = Tensor(r.randint(0, 2, (1, 2, 8, 8)).astype(np.float32))
b = Tensor(r.randn(1, 4, 8, 8).astype(np.float32))
for _ in range(3):
    print(f"{float(step(x, c, b)):.4f}")
boxes = Tensor(np.array([[0, 0, 10, 10], [1, 1, 9, 12], [20, 20, 30, 30]], np.float32))
gt = Tensor(np.array([[0, 0, 9, 11]], np.float32))
print(P.IOU()(boxes, gt).asnumpy().round(4).tolist())
print(P.NMSWithMask(0.4)(ops.concat((boxes, Tensor([[0.9], [0.8], [0.7]], ms.float32)), 1))[2].asnumpy().tolist())
d = P.BoundingBoxEncode()(boxes, Tensor(np.array([[0, 1, 9, 11]] * 3, np.float32)))
print(d.asnumpy().round(3).tolist())
print(P.BoundingBoxDecode(max_shape=(40, 40))(boxes, d).asnumpy().round(2).tolist())
