"""Gradient accumulation in a cell of its own, with a counter parameter, in graph mode."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore.ops import composite as C
from mindspore.ops import functional as F

ms.set_seed(6)
ms.set_context(mode=ms.GRAPH_MODE)
add = C.MultitypeFuncGraph("add")


@add.register("Tensor", "Tensor")
def _add(acc, g):
    return ops.assign_add(acc, g)


zero = C.MultitypeFuncGraph("zero")


@zero.register("Tensor")
def _zero(acc):
    return ops.assign(acc, ops.zeros_like(acc))


class Accumulate(nn.Cell):
    def __init__(self, net, opt, n):
        super().__init__(auto_prefix=False)
        self.net, self.opt = net, opt
        net.set_grad()
        self.weights = opt.parameters
        self.acc = self.weights.clone("acc", "zeros")
        self.n = n
        self.grad = C.GradOperation(get_by_list=True)
        self.map = C.HyperMap()

    def construct(self, x, y, last):
        loss = self.net(x, y)
        grads = self.grad(self.net, self.weights)(x, y)
        loss = F.depend(loss, self.map(add, self.acc, grads))
        return loss


class Apply(nn.Cell):
    def __init__(self, inner):
        super().__init__(auto_prefix=False)
        self.acc, self.opt, self.n = inner.acc, inner.opt, inner.n
        self.map = C.HyperMap()

    def construct(self):
        grads = tuple([a / self.n for a in self.acc])
        ok = self.opt(grads)
        return F.depend(ok, self.map(zero, self.acc))


net = nn.WithLossCell(nn.SequentialCell(nn.Dense(3, 5), nn.Sigmoid(), nn.Dense(5, 1)), nn.MSELoss())
opt = nn.Momentum(net.trainable_params(), 0.2, 0.9)
step = Accumulate(net, opt, 2)
update = Apply(step)
r = np.random.RandomState(0)
for i in range(6):
    x, y = Tensor(r.randn(4, 3).astype(np.float32)), Tensor(r.randn(4, 1).astype(np.float32))
    print(i, f"{float(step(x, y, i % 2)):.5f}")
    if i % 2:
        update()
print([f"{float(p.sum()):.4f}" for p in opt.parameters])
