import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common.initializer import Uniform

ms.set_seed(7)


class Mamba(nn.Cell):
    def __init__(self, d=6, expand=2, n=4, k=3, dt_rank=2):
        super().__init__()
        self.di = d * expand
        self.n, self.k, self.r = (n, k, dt_rank)
        self.in_proj = nn.Dense(d, 2 * self.di, has_bias=False)
        self.conv = nn.Conv1d(self.di, self.di, k, pad_mode="pad", padding=k - 1, group=self.di, has_bias=True)
        self.x_proj = nn.Dense(self.di, dt_rank + 2 * n, has_bias=False)
        self.dt_proj = nn.Dense(dt_rank, self.di, bias_init=Uniform(0.1))
        self.A_log = Parameter(Tensor(np.log(np.tile(np.arange(1, n + 1), (self.di, 1))), ms.float32), name="A_log")
        self.D = Parameter(ops.ones(self.di, ms.float32), name="D")
        self.out = nn.Dense(self.di, d, has_bias=False)

    def scan(self, u, dt, A, B, C):
        b, value, d = u.shape
        dA = ops.exp(dt.unsqueeze(-1) * A)
        dBu = dt.unsqueeze(-1) * B.unsqueeze(2) * u.unsqueeze(-1)
        h = ops.zeros((b, d, self.n), u.dtype)
        ys = []
        for t in range(value):
            h = dA[:, t] * h + dBu[:, t]
            ys.append((h * C[:, t].unsqueeze(1)).sum(-1))
        return ops.stack(ys, axis=1) + u * self.D

    def construct(self, x):
        value = x.shape[1]
        xz = self.in_proj(x)
        u, z = ops.chunk(xz, 2, axis=-1)
        u = self.conv(u.swapaxes(1, 2))[..., :value].swapaxes(1, 2)
        u = ops.silu(u)
        dbc = self.x_proj(u)
        dt, B, C = ops.split(dbc, [self.r, self.n, self.n], axis=-1)
        dt = ops.softplus(self.dt_proj(dt))
        y = self.scan(u, dt, -ops.exp(self.A_log), B, C)
        return self.out(y * ops.silu(z))


class Model(nn.Cell):
    def __init__(self, vocab=9, d=6, layers=2):
        super().__init__()
        self.emb = nn.Embedding(vocab, d)
        self.layers = nn.CellList(
            [nn.SequentialCell(nn.LayerNorm([d], epsilon=1e-05), Mamba(d)) for _ in range(layers)]
        )
        self.norm = nn.LayerNorm([d])

    def construct(self, ids):
        x = self.emb(ids)
        for value in self.layers:
            x = x + value(x)
        return ops.matmul(self.norm(x), self.emb.embedding_table.T)


net = Model()
ids = Tensor(np.random.RandomState(0).randint(0, 9, (2, 7)), ms.int32)
lr = nn.cosine_decay_lr(0.001, 0.02, 8, 4, 2)
print([round(v, 5) for v in lr])
opt = nn.AdamWeightDecay(net.trainable_params(), lr, beta2=0.95, weight_decay=0.1)
loss = nn.CrossEntropyLoss(label_smoothing=0.05)


def fwd(i):
    o = net(i[:, :-1])
    return loss(o.reshape(-1, 9), i[:, 1:].reshape(-1))


vg = ms.value_and_grad(fwd, None, net.trainable_params())
for s in range(6):
    value, g = vg(ids)
    opt(ops.clip_by_value(g, -1.0, 1.0))
    print(s, f"{value.asnumpy():.5f}", f"{max(float(x.abs().max()) for x in g):.5f}")
causal = net(ids)[:, :3] - net(ops.cat((ids[:, :3], ops.zeros((2, 4), ms.int32)), 1))[:, :3]
print("causal", float(causal.abs().max()) < 1e-05)
