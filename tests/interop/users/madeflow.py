import math

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

ms.set_seed(5)


class ActNorm(nn.Cell):
    def __init__(self, dim):
        super().__init__()
        self.loc = Parameter(ops.zeros((1, dim)), name="loc")
        self.log_scale = Parameter(ops.zeros((1, dim)), name="log_scale")
        self.initialised = False

    def init_from(self, x):
        m = x.mean(0, keep_dims=True)
        s = x.std(0, keepdims=True) + 1e-06
        self.loc.set_data(m)
        ops.assign(self.log_scale, ops.log(s))
        self.initialised = True

    def construct(self, x):
        z = (x - self.loc) * ops.exp(-self.log_scale)
        return (z, -self.log_scale.sum())

    def inverse(self, z):
        return z * ops.exp(self.log_scale) + self.loc


class MaskedDense(nn.Dense):
    def __init__(self, i, o, mask):
        super().__init__(i, o)
        self.mask = Tensor(mask, ms.float32)

    def construct(self, x):
        return (
            ops.dense(x, self.weight * self.mask, self.bias)
            if hasattr(ops, "dense")
            else ops.matmul(x, (self.weight * self.mask).T) + self.bias
        )


class MADE(nn.Cell):
    def __init__(self, dim, hidden):
        super().__init__()
        deg_in = np.arange(1, dim + 1)
        deg_h = np.arange(hidden) % (dim - 1) + 1
        m1 = (deg_h[:, None] >= deg_in[None]).astype(np.float32)
        m2 = (deg_in[:, None] > deg_h[None]).astype(np.float32)
        self.l1 = MaskedDense(dim, hidden, m1)
        self.mu = MaskedDense(hidden, dim, m2)
        self.ls = MaskedDense(hidden, dim, m2)

    def construct(self, x):
        h = ops.relu(self.l1(x))
        mu, ls = (self.mu(h), ops.tanh(self.ls(h)))
        return ((x - mu) * ops.exp(-ls), -ls.sum(axis=1))


class Flow(nn.Cell):
    def __init__(self, dim, n=2):
        super().__init__()
        self.acts = nn.CellList([ActNorm(dim) for _ in range(n)])
        self.mades = nn.CellList([MADE(dim, 8) for _ in range(n)])
        self.perm = Tensor(np.arange(dim)[::-1].copy())

    def construct(self, x):
        ld = 0
        for a, m in zip(self.acts, self.mades, strict=False):
            x, l1 = a(x)
            x, l2 = m(x)
            ld = ld + l1 + l2
            x = x[:, self.perm]
        lp = -0.5 * (x**2 + math.log(2 * math.pi)).sum(-1)
        return (-(lp + ld).mean(), x)


flow = Flow(3)
rng = np.random.RandomState(0)
data = Tensor(rng.multivariate_normal([1, -1, 0], [[1, 0.8, 0], [0.8, 1, 0], [0, 0, 0.5]], 32), ms.float32)
flow.acts[0].init_from(data)
flow.acts[1].init_from(flow.mades[0](flow.acts[0](data)[0])[0][:, ::-1])
print(flow.acts[1].loc, flow.acts[0].log_scale)
print(flow)
opt = nn.AdamWeightDecay(flow.trainable_params(), 0.01, weight_decay=0.01)
vg = ms.value_and_grad(flow, None, opt.parameters, has_aux=True)
for i in range(6):
    (value, z), g = vg(data)
    g = ops.clip_by_global_norm(g, 5.0)
    opt(g)
    print(i, f"{value.item():.4f}", f"{z.mean().item():.4f}")
print(opt)
print({k: v.shape for k, v in flow.parameters_dict().items()})
x = flow.acts[0].inverse(flow.acts[0](data)[0])
print(np.allclose(x.asnumpy(), data.asnumpy(), atol=1e-05))
print(ms.grad(flow.mades[0])(data[:1]))
