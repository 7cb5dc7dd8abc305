"""Graph attention over an edge list, softmax by segments, node classification with a mask."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_seed(17)
ms.set_context(mode=ms.PYNATIVE_MODE)
N = 6
src = Tensor([0, 1, 2, 3, 4, 5, 0, 2, 4, 1], ms.int32)
dst = Tensor([1, 2, 3, 4, 5, 0, 0, 2, 1, 4], ms.int32)


class GAT(nn.Cell):
    def __init__(self, i, o):
        super().__init__()
        self.fc = nn.Dense(i, o, has_bias=False)
        self.al = ms.Parameter(ops.ones((o, 1), ms.float32) * 0.3, name="al")
        self.ar = ms.Parameter(ops.ones((o, 1), ms.float32) * -0.2, name="ar")
        self.leaky = nn.LeakyReLU(0.2)

    def construct(self, x, src, dst):
        h = self.fc(x)
        e = self.leaky(ops.gather(ops.matmul(h, self.al), src, 0) + ops.gather(ops.matmul(h, self.ar), dst, 0))
        e = ops.exp(e - e.max())
        total = ops.unsorted_segment_sum(e, dst, N)
        a = e / ops.gather(total, dst, 0)
        return ops.unsorted_segment_sum(a * ops.gather(h, src, 0), dst, N)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.g1, self.g2 = GAT(4, 5), GAT(5, 3)
        self.elu = nn.ELU()

    def construct(self, x, s, d):
        return self.g2(self.elu(self.g1(x, s, d)), s, d)


net = Net()
r = np.random.RandomState(0)
x, y = Tensor(r.randn(N, 4), ms.float32), Tensor([0, 1, 2, 0, 1, 2], ms.int32)
mask = Tensor([1, 1, 0, 1, 0, 1], ms.float32)
opt = nn.Adam(net.trainable_params(), learning_rate=0.05, weight_decay=5e-4)


def loss_fn(x):
    logp = ops.log_softmax(net(x, src, dst), -1)
    picked = ops.gather_elements(logp, 1, y.expand_dims(1)).squeeze(-1)
    return -(picked * mask).sum() / mask.sum()


g = ms.value_and_grad(loss_fn, None, opt.parameters)
for i in range(4):
    value, gr = g(x)
    opt(gr)
    if i % 2 == 1:
        acc = ((net(x, src, dst).argmax(1) == y).astype(ms.float32) * mask).sum() / mask.sum()
        print(f"step {i}: loss {value.asnumpy():.4f} acc {acc.asnumpy():.3f}")
