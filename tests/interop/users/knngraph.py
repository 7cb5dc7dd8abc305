"""EdgeConv on a kNN graph built within the network, scatter by TensorScatterAdd, PyNative and graph."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_seed(9)
np.random.seed(9)


class EdgeConv(nn.Cell):
    def __init__(self, i, o, k):
        super().__init__()
        self.k = k
        self.mlp = nn.SequentialCell(nn.Dense(2 * i, o), nn.LeakyReLU(0.2))

    def construct(self, x):
        n = x.shape[0]
        sq = (x * x).sum(1)
        d = sq.expand_dims(1) - 2.0 * ops.matmul(x, x.T) + sq.expand_dims(0)
        _, idx = ops.topk(-ops.stop_gradient(d), self.k)
        nb = x[idx.reshape(-1)].reshape(n, self.k, -1)
        centre = ops.tile(x.expand_dims(1), (1, self.k, 1))
        return self.mlp(ops.cat((centre, nb - centre), -1)).max(axis=1)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.e1, self.e2 = EdgeConv(3, 6, 3), EdgeConv(6, 8, 3)
        self.out = nn.Dense(14, 2)

    def construct(self, x, seg, counts):
        a = self.e1(x)
        b = self.e2(a)
        h = ops.concat((a, b), 1)
        zeros = ops.zeros((2, 14), ms.float32)
        pooled = ops.tensor_scatter_add(zeros, seg.expand_dims(-1), h) / counts
        return self.out(pooled)


def run(mode):
    ms.set_context(mode=mode)
    ms.set_seed(9)
    net = Net()
    opt = nn.Momentum(net.trainable_params(), 0.05, 0.9)
    x = Tensor(np.random.RandomState(1).randn(9, 3).astype(np.float32))
    seg = Tensor([0, 0, 0, 0, 1, 1, 1, 1, 1], ms.int32)
    counts = Tensor([[4.0], [5.0]], ms.float32)
    y = Tensor([0, 1], ms.int32)

    def forward(a):
        return ops.cross_entropy(net(a, seg, counts), y)

    vg = ms.value_and_grad(forward, None, net.trainable_params())
    for i in range(2):
        loss, g = vg(x)
        opt(g)
        print(mode, i, f"{loss.asnumpy():.5f}")


for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
    run(mode)
