import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(0)


class Attention(nn.Cell):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.d = d
        self.q = nn.Dense(d, d)
        self.k = nn.Dense(d, d)
        self.v = nn.Dense(d, d)
        self.o = nn.Dense(d, d)
        self.norm = nn.LayerNorm((d,))
        self.soft = nn.Softmax(-1)
        self.mm = ops.BatchMatMul()
        self.mmt = ops.BatchMatMul(transpose_b=True)

    def split(self, x):
        b, t, d = x.shape
        return x.reshape(b, t, self.h, d // self.h).transpose(0, 2, 1, 3)

    def construct(self, x, mask):
        q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        s = self.mmt(q, k) / ops.sqrt(Tensor(self.d // self.h, ms.float32))
        s = s + (1 - mask) * -1e4
        y = self.mm(self.soft(s), v).transpose(0, 2, 1, 3).reshape(x.shape)
        return self.norm(x + self.o(y))


net = nn.SequentialCell([Attention(8, 2)]) if False else Attention(8, 2)


class Loss(nn.Cell):
    def __init__(self, n):
        super().__init__()
        self.n = n

    def construct(self, x, m, y):
        return ((self.n(x, m) - y) ** 2).mean()


step = nn.TrainOneStepCell(Loss(net), nn.Adam(net.trainable_params(), 0.01))
r = np.random.RandomState(1)
x = Tensor(r.randn(2, 4, 8).astype(np.float32))
y = Tensor(r.randn(2, 4, 8).astype(np.float32))
m = Tensor(np.tril(np.ones((4, 4))).astype(np.float32))
for _ in range(3):
    print(f"{float(step(x, m, y)):.4f}")
