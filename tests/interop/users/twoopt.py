import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_seed(0)
a = nn.Dense(3, 4)
b = nn.Dense(4, 1)
for p in a.trainable_params():
    p.name = "a." + p.name
o1 = nn.Adam(a.trainable_params(), 0.01)
o2 = nn.SGD(b.trainable_params(), 0.1, momentum=0.9)


def f(x):
    return (b(ops.tanh(a(x))) ** 2).mean()


g = ms.value_and_grad(f, None, o1.parameters + o2.parameters)
x = Tensor(np.random.RandomState(0).randn(5, 3).astype(np.float32))
for _ in range(4):
    loss_value, gr = g(x)
    o1(gr[:2])
    o2(gr[2:])
    print(f"{float(loss_value):.4f}")
