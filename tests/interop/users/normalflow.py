"""A normalising flow of affine couplings with alternating masks; log-determinants summed."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_seed(12)


class Coupling(nn.Cell):
    def __init__(self, mask):
        super().__init__()
        self.mask = Tensor(mask, ms.float32)
        self.s = nn.SequentialCell(nn.Dense(2, 8), nn.Tanh(), nn.Dense(8, 2))
        self.t = nn.SequentialCell(nn.Dense(2, 8), nn.Tanh(), nn.Dense(8, 2))

    def construct(self, x):
        kept = x * self.mask
        s, t = self.s(kept) * (1 - self.mask), self.t(kept) * (1 - self.mask)
        return kept + (1 - self.mask) * (x * ops.exp(s) + t), s.sum(axis=1)


class Flow(nn.Cell):
    def __init__(self, depth):
        super().__init__()
        self.steps = nn.CellList([Coupling([i % 2, 1 - i % 2]) for i in range(depth)])

    def construct(self, x):
        logdet = ops.zeros((x.shape[0],), ms.float32)
        for step in self.steps:
            x, d = step(x)
            logdet += d
        return x, logdet


flow = Flow(3)
opt = nn.Adam(flow.trainable_params(), 0.01)


def nll(x):
    z, logdet = flow(x)
    return (0.5 * (z**2).sum(1) + np.log(2 * np.pi) - logdet).mean()


step = ms.value_and_grad(nll, None, opt.parameters)
r = np.random.RandomState(0)
x = Tensor(r.randn(16, 2) * [1, 2] + [0, 1], ms.float32)
for _ in range(4):
    loss, grads = step(x)
    opt(grads)
    print(f"nll {float(loss):.4f}")
