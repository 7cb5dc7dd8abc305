"""Decisions on values of tensors in construct: if, else, while, and a loop that stops early."""

import mindspore as ms
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(1)


class Clip(nn.Cell):
    def construct(self, x):
        n = ops.sqrt((x * x).sum())
        if n > 1.0:
            x = x / n
        return x * 2


class Newton(nn.Cell):
    def construct(self, a):
        x = a
        i = Tensor(0, ms.int32)
        while i < 5:
            x = 0.5 * (x + a / x)
            i += 1
        return x


class Either(nn.Cell):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Dense(2, 2, weight_init="ones"), nn.Dense(2, 2, weight_init="zeros", bias_init="ones")

    def construct(self, x):
        if x.sum() > 0:
            y = self.up(x)
        elif x.sum() < -5:
            y = -x
        else:
            y = self.down(x)
        return y + 1


print(Clip()(Tensor([3.0, 4.0])), Clip()(Tensor([0.3, 0.4])))
print(Newton()(Tensor(2.0)))
net = Either()
for v in ([1.0, 2.0], [-1.0, -2.0], [-4.0, -5.0]):
    print(net(Tensor([v], ms.float32)))
