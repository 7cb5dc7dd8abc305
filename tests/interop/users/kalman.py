"""A Kalman filter with learned noise, unrolled, fitted to a track."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

ms.set_seed(3)
rng = np.random.RandomState(3)


class Kalman(nn.Cell):
    def __init__(self, steps):
        super().__init__()
        self.steps = steps
        self.F = Tensor([[1.0, 1.0], [0.0, 1.0]], ms.float32)
        self.H = Tensor([[1.0, 0.0]], ms.float32)
        self.logq = Parameter(Tensor([-2.0, -3.0], ms.float32), name="logq")
        self.logr = Parameter(Tensor([0.0], ms.float32), name="logr")
        self.eye = Tensor(np.eye(2), ms.float32)

    def construct(self, z):
        q = ops.diag(ops.exp(self.logq))
        r = ops.exp(self.logr).reshape(1, 1)
        x = ops.zeros((2, 1), ms.float32)
        P = self.eye * 10.0
        nll = 0.0
        for t in range(self.steps):
            x = ops.matmul(self.F, x)
            P = ops.matmul(ops.matmul(self.F, P), self.F.T) + q
            innov = z[t].reshape(1, 1) - ops.matmul(self.H, x)
            S = ops.matmul(ops.matmul(self.H, P), self.H.T) + r
            K = ops.matmul(P, self.H.T) / S
            x = x + ops.matmul(K, innov)
            P = ops.matmul(self.eye - ops.matmul(K, self.H), P)
            nll = nll + 0.5 * (ops.log(S) + innov * innov / S).sum()
        return nll / self.steps, x


net = Kalman(5)
truth = np.cumsum(np.ones(5)) * 0.5
z = Tensor((truth + 0.3 * rng.randn(5)).astype(np.float32))
opt = nn.RMSProp(net.trainable_params(), learning_rate=0.1)
vg = ms.value_and_grad(net, None, net.trainable_params(), has_aux=True)
for i in range(4):
    (loss, x), g = vg(z)
    opt(g)
    print(
        i,
        f"nll {float(loss):.4f}",
        "pos {:.3f} vel {:.3f}".format(*tuple(x.asnumpy().ravel())),
        [round(float(v.sum()), 4) for v in g],
    )
print(net.logq, net.logr)
