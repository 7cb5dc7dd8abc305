import mindspore as ms
import numpy as np
from mindspore import Tensor, nn
from mindspore.ops import composite as C
from mindspore.ops import functional as F

ms.set_seed(0)
ms.set_context(mode=ms.GRAPH_MODE)
_add = C.MultitypeFuncGraph("add")


@_add.register("Tensor", "Tensor")
def add_(acc, g):
    return F.depend(True, F.assign_add(acc, g))


_clear = C.MultitypeFuncGraph("clear")


@_clear.register("Tensor", "Tensor")
def clear_(acc, z):
    return F.depend(True, F.assign(acc, z))


class Acc(nn.Cell):
    def __init__(self, net):
        super().__init__(auto_prefix=False)
        self.net = net
        self.w = ms.ParameterTuple(net.trainable_params())
        self.acc = self.w.clone("acc", "zeros")
        self.grad = C.GradOperation(get_by_list=True)
        self.map = C.HyperMap()

    def construct(self, x, y):
        loss_value = self.net(x, y)
        g = self.grad(self.net, self.w)(x, y)
        ok = self.map(_add, self.acc, g)
        return F.depend(loss_value, ok)


class Apply(nn.Cell):
    def __init__(self, opt, acc):
        super().__init__(auto_prefix=False)
        self.opt = opt
        self.acc = acc
        self.zeros = acc.clone("zeros", "zeros")
        self.map = C.HyperMap()

    def construct(self):
        ok = self.opt(self.acc)
        return F.depend(ok, self.map(_clear, F.depend(self.acc, ok), self.zeros))


net = nn.WithLossCell(nn.Dense(3, 2), nn.MSELoss())
opt = nn.Momentum(net.trainable_params(), 0.1, 0.9)
a = Acc(net)
b = Apply(opt, a.acc)
r = np.random.RandomState(0)
for i in range(6):
    print(f"{float(a(Tensor(r.randn(4, 3).astype(np.float32)), Tensor(r.randn(4, 2).astype(np.float32)))):.4f}")
    if i % 2:
        b()
print(net.trainable_params()[0].asnumpy().round(4).tolist())
