import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_seed(0)


class Fake(nn.Cell):
    def __init__(self):
        super().__init__()
        self.round = ops.Round()

    def construct(self, x):
        return self.round(x * 16.0) / 16.0

    def bprop(self, x, out, dout):
        return (dout,)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(4, 3)
        self.q = Fake()

    def construct(self, x):
        return ops.matmul(self.q(x), self.q(self.fc.weight).T) + self.fc.bias


net = Net()
opt = nn.SGD(net.trainable_params(), 0.1)
mse = nn.MSELoss()
r = np.random.RandomState(0)
x = Tensor(r.randn(5, 4).astype(np.float32))
y = Tensor(r.randn(5, 3).astype(np.float32))


def f(x, y):
    return mse(net(x), y)


g = ms.value_and_grad(f, None, opt.parameters)
for _ in range(3):
    loss_value, gr = g(x, y)
    opt(gr)
    print(f"{float(loss_value):.4f}")
