"""Spectral normalisation by power iteration, hinge GAN loss."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common.initializer import Normal, initializer

ms.set_seed(5)
np.random.seed(5)


class SNDense(nn.Cell):
    def __init__(self, i, o):
        super().__init__()
        self.weight = Parameter(initializer(Normal(0.1), (o, i)), name="weight")
        self.bias = Parameter(initializer("zeros", (o,)), name="bias")
        self.u = Parameter(Tensor(np.random.randn(o), ms.float32), name="u", requires_grad=False)
        self.l2 = ops.L2Normalize(axis=0, epsilon=1e-12)

    def construct(self, x):
        w = ops.stop_gradient(self.weight)
        v = self.l2(ops.matmul(w.T, self.u))
        u = self.l2(ops.matmul(w, v))
        if self.training:
            ops.assign(self.u, u)
        sigma = (u * ops.matmul(self.weight, v)).sum()
        return ops.matmul(x, (self.weight / sigma).T) + self.bias


class D(nn.Cell):
    def __init__(self):
        super().__init__()
        self.l1, self.l2 = SNDense(4, 8), SNDense(8, 1)
        self.act = nn.LeakyReLU(0.1)

    def construct(self, x):
        return self.l2(self.act(self.l1(x)))


class G(nn.Cell):
    def __init__(self):
        super().__init__()
        self.body = nn.SequentialCell(nn.Dense(3, 8), nn.ReLU(), nn.Dense(8, 4))

    def construct(self, z):
        return self.body(z)


d, g = D(), G()
d.set_train()
g.set_train()
od = nn.Adam(d.trainable_params(), 2e-3, beta1=0.5, beta2=0.9)
og = nn.Adam(g.trainable_params(), 1e-3, beta1=0.5, beta2=0.9)


def d_loss(real, z):
    fake = ops.stop_gradient(g(z))
    return ops.relu(1.0 - d(real)).mean() + ops.relu(1.0 + d(fake)).mean()


def g_loss(z):
    return -d(g(z)).mean()


gd = ms.value_and_grad(d_loss, None, od.parameters)
gg = ms.value_and_grad(g_loss, None, og.parameters)
for i in range(3):
    real = Tensor(np.random.randn(6, 4) + 1.0, ms.float32)
    z = Tensor(np.random.randn(6, 3), ms.float32)
    ld, grads = gd(real, z)
    od(grads)
    lg, grads = gg(z)
    og(grads)
    print("it", i, f"d {float(ld):.5f} g {float(lg):.5f}", f"u {float(ops.norm(d.l1.u)):.4f}")
print([(p.name, p.requires_grad) for p in d.get_parameters()])
