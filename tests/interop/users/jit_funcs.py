"""jit on functions and methods, static values, nested tuples and dictionaries."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, jit, nn, ops


@jit
def norm(x, eps=1e-5):
    m = x.mean(axis=-1, keep_dims=True)
    v = ops.square(x - m).mean(axis=-1, keep_dims=True)
    return (x - m) / ops.sqrt(v + eps)


@ms.jit
def pick(items, k):
    total = items[0]
    for i in range(1, len(items)):
        total = total + items[i] * k
    return total, {"last": items[-1], "first": items[0]}["last"]


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.scale = ms.Parameter(Tensor(2.0), name="scale")

    @ms.jit
    def once(self, x):
        return x * self.scale

    def construct(self, x):
        return self.once(x) + self.once(x + 1)


ms.set_context(mode=ms.PYNATIVE_MODE)
x = Tensor(np.arange(6).reshape(2, 3), ms.float32)
print(norm(x).asnumpy().round(4).tolist())
a, b = pick((x, x + 1, x + 2), 3)
print(a.asnumpy().tolist(), b.asnumpy().tolist())
net = Net()
print(net(x), ms.grad(net)(x))
