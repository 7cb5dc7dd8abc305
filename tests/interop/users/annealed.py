"""Counters, schedules and decisions of Python within a forward function, PyNative mode."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.PYNATIVE_MODE)
ms.set_seed(41)


class Annealed(nn.Cell):
    """A loss whose regulariser grows with the steps, and whose large values are cut."""

    def __init__(self, net):
        super().__init__()
        self.net, self.calls, self.log = net, 0, []

    def construct(self, x, y):
        self.calls += 1
        loss = ops.mse_loss(self.net(x), y)
        if loss > 1.5:
            loss = 1.5 + 0.1 * (loss - 1.5)
        beta = min(1.0, self.calls / 4)
        penalty = sum((p**2).sum() for p in self.net.trainable_params())
        self.log.append((round(float(loss), 3), beta))
        return loss + beta * 0.01 * penalty


net = nn.SequentialCell(nn.Dense(3, 4), nn.Tanh(), nn.Dense(4, 1))
loss = Annealed(net)
opt = nn.Adam(net.trainable_params(), 0.05)
step = ms.value_and_grad(loss, None, opt.parameters)
r = np.random.RandomState(0)
for _ in range(5):
    value, grads = step(Tensor(r.randn(6, 3), ms.float32), Tensor(3 * r.randn(6, 1), ms.float32))
    opt(grads)
    print(f"{float(value):.4f}")
print(loss.calls, loss.log)
