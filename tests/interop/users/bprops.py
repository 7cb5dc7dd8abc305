"""Custom gradients: a clipped identity, a sign with a straight-through estimator, hooks that scale, per-layer."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops


class Clip(nn.Cell):
    def __init__(self, bound):
        super().__init__()
        self.bound = bound

    def construct(self, x):
        return x * 1.0

    def bprop(self, x, out, dout):
        return (ops.clip_by_value(dout, -self.bound, self.bound),)


class Binary(nn.Cell):
    def __init__(self):
        super().__init__()
        self.weight = Parameter(Tensor(np.array([[0.3, -0.2], [-0.7, 1.4]], np.float32)), name="weight")
        self.ste = STE()

    def construct(self, x):
        return ops.matmul(x, self.ste(self.weight))


class STE(nn.Cell):
    def construct(self, w):
        return ops.sign(w)

    def bprop(self, w, out, dout):
        return (dout * (ops.abs(w) <= 1).astype(ms.float32),)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.clip = Clip(0.1)
        self.fc = Binary()

    def construct(self, x):
        return (self.fc(self.clip(x)) ** 2).sum()


for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
    ms.set_context(mode=mode)
    net = Net()
    x = Tensor(np.array([[1.0, 2.0]], np.float32))
    print(net(x))
    print(ms.grad(net)(x))
    print(ms.grad(net, None, net.trainable_params())(x))
    opt = nn.SGD(net.trainable_params(), 0.1)
    train = nn.TrainOneStepCell(net, opt)
    for _ in range(2):
        print(train(x))
    print(net.fc.weight.asnumpy())
