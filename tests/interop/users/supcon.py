"""SupCon / SimCLR style: two views, projection head, temperature, both directions; momentum encoder by EMA."""

import mindspore as ms
import numpy as np
from mindspore import ParameterTuple, Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(5)


class Encoder(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, stride=2, pad_mode="pad", padding=1)
        self.bn = nn.BatchNorm2d(4)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.proj = nn.SequentialCell(nn.Dense(4, 8), nn.ReLU(), nn.Dense(8, 6))
        self.norm = ops.L2Normalize(axis=1)

    def construct(self, x):
        x = ops.relu(self.bn(self.conv(x)))
        x = self.pool(x).flatten(start_dim=1)
        return self.norm(self.proj(x))


class SupCon(nn.Cell):
    def __init__(self, net, tau=0.2):
        super().__init__()
        self.net, self.tau = net, tau

    def construct(self, a, b, label):
        z = ops.cat((self.net(a), self.net(b)))
        n = z.shape[0]
        sim = ops.matmul(z, z.T) / self.tau
        sim = sim - ops.stop_gradient(sim.max(axis=1, keepdims=True))
        lab = ops.tile(label, (2,)).reshape(-1, 1)
        eye = ops.eye(n, n, ms.float32)
        pos = ops.cast(ops.equal(lab, lab.T), ms.float32) - eye
        e = ops.exp(sim) * (1 - eye)
        logp = sim - ops.log(e.sum(axis=1, keepdims=True))
        return -((pos * logp).sum(1) / pos.sum(1)).mean()


net, slow = Encoder(), Encoder()
r = np.random.RandomState(12)
for p in net.trainable_params():
    if p.ndim > 1:
        p.set_data(Tensor(r.randn(*p.shape) * 0.4, ms.float32))
ms.load_param_into_net(slow, {p.name: p for p in net.get_parameters()})
fast_w = ParameterTuple(net.trainable_params())
slow_w = ParameterTuple(slow.trainable_params())


class EMA(nn.Cell):
    def __init__(self, slow, fast, m):
        super().__init__()
        self.slow, self.fast, self.m = slow, fast, m

    def construct(self):
        done = True
        for at, s in enumerate(self.slow):
            f = self.fast[at]
            done = ops.depend(done, ops.assign(s, self.m * s + (1 - self.m) * f))
        return done


x = r.rand(6, 1, 8, 8)
a = Tensor(x + 0.05 * r.randn(*x.shape), ms.float32)
b = Tensor(x[..., ::-1].copy(), ms.float32)
label = Tensor([0, 0, 1, 1, 2, 2], ms.int32)
step = nn.TrainOneStepCell(SupCon(net), nn.Momentum(net.trainable_params(), 0.1, 0.9, weight_decay=1e-4))
step.set_train()
ema = EMA(slow_w, fast_w, 0.9)
for i in range(3):
    print(i, step(a, b, label))
    ema()
slow.set_train(False)
print(slow(a)[0], slow.proj[0].weight[0])
