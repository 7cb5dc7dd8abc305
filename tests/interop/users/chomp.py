import mindspore as ms
import mindspore.nn as nn
import mindspore.numpy as mnp
import numpy as np

ms.set_seed(55)
np.random.seed(55)


class Chomp(nn.Cell):
    def __init__(self, n):
        super().__init__()
        self.n = n

    def construct(self, x):
        return x[:, :, : -self.n]


def causal(i, o, k, d):
    pad = (k - 1) * d
    return [nn.Conv1d(i, o, k, dilation=d, pad_mode="pad", padding=pad, has_bias=True), Chomp(pad), nn.ReLU()]


class Temporal(nn.Cell):
    def __init__(self, i, o, k, d):
        super().__init__()
        self.net = nn.SequentialCell(causal(i, o, k, d) + causal(o, o, k, d))
        self.down = None
        if i != o:
            self.down = nn.Conv1d(i, o, 1)
        self.relu = nn.ReLU()

    def construct(self, x):
        r = x if self.down is None else self.down(x)
        return self.relu(self.net(x) + r)


class TCN(nn.Cell):
    def __init__(self, ch=(4, 4, 6)):
        super().__init__()
        blocks, prev = [], 2
        for lvl, c in enumerate(ch):
            blocks.append(Temporal(prev, c, 3, 2**lvl))
            prev = c
        self.tcn = nn.SequentialCell(*blocks)
        self.head = nn.Dense(prev, 1)

    def construct(self, x):
        y = self.tcn(x.transpose(0, 2, 1))
        return self.head(y[:, :, -1])


t = np.arange(0, 40, dtype=np.float32)
series = np.stack([np.sin(t / 3), np.cos(t / 5)], -1)
X = np.stack([series[i : i + 12] for i in range(8)])
Y = np.stack([series[i + 12, :1] for i in range(8)])
net = TCN()
net.set_train()
sched = nn.ExponentialDecayLR(0.01, 0.9, 2, is_stair=True)
opt = nn.Adam(net.trainable_params(), sched, use_nesterov=False, weight_decay=1e-5)
crit = nn.MSELoss()


def fwd(x, y):
    p = net(x)
    return crit(p, y), p


vg = ms.value_and_grad(fwd, None, opt.parameters, has_aux=True)
for epoch in range(3):
    for b in range(0, 8, 4):
        (loss, p), g = vg(ms.Tensor(X[b : b + 4]), ms.Tensor(Y[b : b + 4]))
        opt(g)
    mae = mnp.mean(mnp.absolute(p - ms.Tensor(Y[b : b + 4])))
    print(f"epoch {epoch} mse {float(loss):.5f} mae {float(mae):.5f} lr {float(opt.get_lr()):.5f}")
