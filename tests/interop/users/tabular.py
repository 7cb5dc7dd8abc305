import mindspore as ms
import numpy as np
from mindspore import nn, ops
from mindspore.common.initializer import HeUniform, Uniform
from mindspore.dataset import GeneratorDataset
from mindspore.train import MAE, MSE, LossMonitor, Model

ms.set_seed(88)
np.random.seed(88)
CARDS = [5, 3, 7]


class Table:
    def __init__(self, n=24):
        self.cat = np.stack([np.random.randint(0, c, n) for c in CARDS], 1).astype(np.int32)
        self.num = np.random.randn(n, 4).astype(np.float32)
        self.y = (self.num.sum(1) + self.cat[:, 0] * 0.3).astype(np.float32)[:, None]

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.cat[i], self.num[i], self.y[i]


class TabNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.embs = nn.CellList([nn.Embedding(c, (c + 1) // 2, embedding_table=Uniform(0.05)) for c in CARDS])
        width = sum((c + 1) // 2 for c in CARDS) + 4
        self.bn = nn.BatchNorm1d(4, momentum=0.8)
        self.l1 = nn.Dense(width, 12, weight_init=HeUniform())
        self.b1 = nn.BatchNorm1d(12)
        self.l2 = nn.Dense(12, 1)
        self.drop = nn.Dropout(p=0.0)

    def construct(self, cat, num):
        parts = [e(cat[:, i]) for i, e in enumerate(self.embs)]
        parts.append(self.bn(num))
        x = ops.concat(parts, -1)
        x = self.drop(self.b1(ops.leaky_relu(self.l1(x), 0.1)))
        return self.l2(x)


class WithLoss(nn.Cell):
    def __init__(self, net, loss):
        super().__init__(auto_prefix=False)
        self.net, self.loss = net, loss

    def construct(self, cat, num, y):
        return self.loss(self.net(cat, num), y)


class WithEval(nn.Cell):
    def __init__(self, net, loss):
        super().__init__(auto_prefix=False)
        self.net, self.loss = net, loss

    def construct(self, cat, num, y):
        p = self.net(cat, num)
        return self.loss(p, y), p, y


data = GeneratorDataset(Table(), ["cat", "num", "y"], shuffle=False).batch(8)
net = TabNet()
loss = nn.L1Loss()
lr = nn.piecewise_constant_lr([3, 6], [0.01, 0.001])
opt = nn.LazyAdam(net.trainable_params(), lr)
model = Model(
    WithLoss(net, loss),
    optimizer=opt,
    eval_network=WithEval(net, loss),
    metrics={"mae": MAE(), "mse": MSE()},
    eval_indexes=[0, 1, 2],
)
model.train(2, data, callbacks=LossMonitor(3), dataset_sink_mode=False)
r = model.eval(data, dataset_sink_mode=False)
print({k: f"{v:.4f}" for k, v in r.items()})
