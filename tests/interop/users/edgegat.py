"""Graph attention over an edge list: scores per edge, softmax over the incoming edges of each node."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)


class EdgeGAT(nn.Cell):
    def __init__(self, din, dout, n):
        super().__init__()
        self.n = n
        self.lin = nn.Dense(din, dout, has_bias=False)
        self.att_src = Parameter(Tensor(np.linspace(-1, 1, dout), ms.float32), name="att_src")
        self.att_dst = Parameter(Tensor(np.linspace(1, -1, dout), ms.float32), name="att_dst")
        self.act = nn.LeakyReLU(0.2)

    def construct(self, x, src, dst):
        h = self.lin(x)
        a = (h * self.att_src).sum(-1), (h * self.att_dst).sum(-1)
        e = self.act(ops.gather(a[0], src, 0) + ops.gather(a[1], dst, 0))
        e = ops.exp(e - ops.stop_gradient(e.max()))
        total = ops.unsorted_segment_sum(e, dst, self.n)
        w = e / (ops.gather(total, dst, 0) + 1e-9)
        return ops.unsorted_segment_sum(ops.gather(h, src, 0) * w.expand_dims(-1), dst, self.n)


class Net(nn.Cell):
    def __init__(self, n):
        super().__init__()
        self.g1 = EdgeGAT(5, 4, n)
        self.g2 = EdgeGAT(4, 3, n)

    def construct(self, x, src, dst):
        return self.g2(ops.elu(self.g1(x, src, dst)), src, dst)


class Loss(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net, self.ce = net, nn.CrossEntropyLoss(reduction="none")

    def construct(self, x, src, dst, y, mask):
        loss = self.ce(self.net(x, src, dst), y)
        return (loss * mask).sum() / mask.sum()


rng = np.random.RandomState(8)
n = 6
src = Tensor([0, 1, 2, 3, 4, 5, 0, 2, 4, 1, 3, 5], ms.int32)
dst = Tensor([1, 2, 3, 4, 5, 0, 0, 2, 4, 1, 3, 5], ms.int32)
net = Net(n)
for p in net.trainable_params():
    if p.ndim == 2:
        p.set_data(Tensor(rng.randn(*p.shape) * 0.5, ms.float32))
x = Tensor(rng.randn(n, 5), ms.float32)
y = Tensor([0, 1, 2, 0, 1, 2], ms.int32)
mask = Tensor([1, 1, 0, 1, 0, 1], ms.float32)
step = nn.TrainOneStepCell(Loss(net), nn.Adam(net.trainable_params(), 0.05))
step.set_train()
for i in range(3):
    print(i, step(x, src, dst, y, mask))
print(net(x, src, dst).argmax(-1))
