"""Sharpness-aware minimisation: two gradients a step."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore.common.initializer import TruncatedNormal

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(11)


class Net(nn.Cell):
    def __init__(self):
        super().__init__(auto_prefix=True)
        self.body = nn.SequentialCell(
            [
                nn.Dense(6, 10, weight_init=TruncatedNormal(0.2)),
                nn.LayerNorm((10,)),
                nn.GELU(),
                nn.Dense(10, 4),
            ]
        )

    def construct(self, x):
        return self.body(x)


class SamStep(nn.Cell):
    def __init__(self, net, loss, opt, rho=0.05):
        super().__init__()
        self.net, self.loss, self.opt, self.rho = net, loss, opt, rho
        self.params = opt.parameters
        self.grad = ops.GradOperation(get_by_list=True)
        self.hyper = ops.HyperMap()

    def compute(self, x, y):
        return self.loss(self.net(x), y)

    def construct(self, x, y):
        grads = self.grad(self.compute, self.params)(x, y)
        total = ops.zeros((), ms.float32)
        for g in grads:
            total = total + (g * g).sum()
        scale = self.rho / (ops.sqrt(total) + 1e-12)
        for i in range(len(self.params)):
            ops.assign_add(self.params[i], grads[i] * scale)
        second = self.grad(self.compute, self.params)(x, y)
        for i in range(len(self.params)):
            ops.assign_sub(self.params[i], grads[i] * scale)
        self.opt(second)
        return self.compute(x, y)


net = Net()
opt = nn.Momentum(net.trainable_params(), 0.1, 0.9)
step = SamStep(net, nn.CrossEntropyLoss(label_smoothing=0.1), opt)
rng = np.random.default_rng(5)
x = Tensor(rng.normal(size=(5, 6)).astype(np.float32))
y = Tensor(rng.integers(0, 4, 5).astype(np.int32))
for _ in range(2):
    print(round(float(step(x, y)), 4))
