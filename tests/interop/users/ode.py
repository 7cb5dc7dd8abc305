"""A neural ODE by Runge-Kutta in a loop, adjoint by plain differentiation."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, jit, nn, ops

ms.set_seed(12)


class Field(nn.Cell):
    def __init__(self):
        super().__init__()
        self.net = nn.SequentialCell(nn.Dense(3, 8), nn.Tanh(), nn.Dense(8, 2))

    def construct(self, t, y):
        t = ops.ones((y.shape[0], 1), y.dtype) * t
        return self.net(ops.concat([y, t], 1))


class Solver(nn.Cell):
    def __init__(self, f, steps=3):
        super().__init__()
        self.f, self.steps = f, steps

    def construct(self, y):
        h = 1.0 / self.steps
        out = [y]
        for i in range(self.steps):
            t = i * h
            k1 = self.f(t, y)
            k2 = self.f(t + h / 2, y + h / 2 * k1)
            k3 = self.f(t + h / 2, y + h / 2 * k2)
            k4 = self.f(t + h, y + h * k3)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            out.append(y)
        return ops.stack(out)


net = Solver(Field())
opt = nn.Adagrad(net.trainable_params(), learning_rate=0.05)
y0 = Tensor([[1.0, 0.0], [0.5, -0.5]], ms.float32)
target = Tensor(
    np.stack([np.stack([np.cos(t + np.arange(2)), np.sin(t + np.arange(2))], 1) for t in np.linspace(0, 1, 4)]),
    ms.float32,
)


@jit
def train_step(y0, target):
    def forward(a, b):
        return ops.abs(net(a) - b).mean()

    loss, grads = ops.value_and_grad(forward, None, opt.parameters)(y0, target)
    opt(grads)
    return loss


for _ in range(2):
    print(f"{train_step(y0, target).asnumpy():.5f}")
