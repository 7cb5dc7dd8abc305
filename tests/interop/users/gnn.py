import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_seed(0)


class GCN(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a = nn.Dense(5, 4)
        self.b = nn.Dense(4, 3)

    def prop(self, x, src, dst):
        return x + ops.unsorted_segment_sum(ops.gather(x, src, 0), dst, 6)

    def construct(self, x, s, d):
        return self.b(self.prop(ops.relu(self.a(self.prop(x, s, d))), s, d))


net = GCN()
ce = nn.CrossEntropyLoss()
opt = nn.Adam(net.trainable_params(), 0.05)
r = np.random.RandomState(0)
x = Tensor(r.randn(6, 5).astype(np.float32))
s = Tensor(np.array([0, 1, 2, 3, 4, 5, 0]), ms.int32)
d = Tensor(np.array([1, 2, 3, 4, 5, 0, 3]), ms.int32)
y = Tensor(np.array([0, 1, 2, 0, 1, 2]), ms.int32)


def f(x):
    return ce(net(x, s, d), y)


g = ms.value_and_grad(f, None, opt.parameters)
for _ in range(3):
    loss_value, gr = g(x)
    opt(gr)
    print(f"{float(loss_value):.4f}")
