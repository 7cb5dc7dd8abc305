import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

ms.set_context(mode=ms.PYNATIVE_MODE)
ms.set_seed(42)


class VQ(nn.Cell):
    def __init__(self, k=8, d=4, beta=0.25, decay=0.9):
        super().__init__()
        self.k, self.d, self.beta, self.decay = (k, d, beta, decay)
        self.codebook = Parameter(
            Tensor(np.random.RandomState(0).uniform(-1 / k, 1 / k, (k, d)), ms.float32),
            requires_grad=False,
            name="codebook",
        )
        self.count = Parameter(ops.ones(k), requires_grad=False, name="count")
        self.summed = Parameter(self.codebook.copy(), requires_grad=False, name="summed")

    def construct(self, z):
        b, c, h, w = z.shape
        flat = z.permute(0, 2, 3, 1).reshape(-1, self.d)
        dist = (flat**2).sum(1, keepdims=True) - 2 * flat @ self.codebook.T + (self.codebook**2).sum(1)
        idx = dist.argmin(1)
        oh = ops.one_hot(idx, self.k, Tensor(1.0, ms.float32), Tensor(0.0, ms.float32))
        q = oh @ self.codebook
        q = q.reshape(b, h, w, c).permute(0, 3, 1, 2)
        if self.training:
            n = ops.stop_gradient(oh.sum(0))
            s = ops.stop_gradient(oh.T @ flat)
            ops.assign(self.count, self.decay * self.count + (1 - self.decay) * n)
            ops.assign(self.summed, self.decay * self.summed + (1 - self.decay) * s)
            ops.assign(self.codebook, self.summed / (self.count + 1e-05).expand_dims(1))
        commit = self.beta * ops.mse_loss(z, ops.stop_gradient(q))
        out = z + ops.stop_gradient(q - z)
        p = oh.mean(0)
        return (out, commit, ops.exp(-(p * ops.log(p + 1e-10)).sum()), idx.reshape(b, h, w))


class AE(nn.Cell):
    def __init__(self):
        super().__init__()
        self.enc = nn.SequentialCell(nn.Conv2d(1, 8, 4, 2, "pad", 1), nn.GroupNorm(2, 8), nn.ReLU(), nn.Conv2d(8, 4, 1))
        self.vq = VQ()
        self.dec = nn.SequentialCell(
            nn.Conv2dTranspose(4, 8, 4, 2, pad_mode="pad", padding=1),
            nn.LeakyReLU(0.1),
            nn.Conv2d(8, 1, 3, pad_mode="same"),
            nn.Sigmoid(),
        )

    def construct(self, x):
        q, c, perp, idx = self.vq(self.enc(x))
        return (self.dec(q), c, perp, idx)


net = AE()
net.set_train()
x = Tensor((np.random.RandomState(1).rand(4, 1, 8, 8) > 0.5).astype(np.float32))
enc = list(filter(lambda p: "enc" in p.name, net.trainable_params()))
rest = [p for p in net.trainable_params() if "enc" not in p.name]
opt = nn.Adam(
    [{"params": enc, "lr": 0.005}, {"params": rest}, {"order_params": net.trainable_params()}], learning_rate=0.01
)


def loss_fn(x):
    y, c, perp, idx = net(x)
    rec = ops.mse_loss(y, x)
    return (rec + c, perp, idx)


vg = ms.value_and_grad(loss_fn, None, opt.parameters, has_aux=True)
for i in range(6):
    (value, p, idx), g = vg(x)
    opt(g)
    print(i, f"{value.item():.5f} {p.item():.4f}", idx[0, 0].asnumpy().tolist())
print(net.vq.count.asnumpy().round(4))
print(net.vq.codebook.asnumpy().round(4)[:2])
print(opt.is_group_lr, [p.name for p in opt.parameters][:3], len(opt.learning_rate))
net.set_train(False)
print(net(x)[0].mean(), net.vq.codebook.sum())
