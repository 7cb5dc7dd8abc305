"""Deep and cross with embeddings in a list."""

import mindspore as ms
import numpy as np
from feed import data, labels
from mindspore import Parameter, Tensor, nn, ops


class Cross(nn.Cell):
    def __init__(self, d, n):
        super().__init__()
        self.n = n
        self.w = nn.CellList([nn.Dense(d, 1, has_bias=False) for _ in range(n)])
        self.b = ms.ParameterTuple([Parameter(Tensor(np.zeros(d, np.float32)), name=f"b{i}") for i in range(n)])

    def construct(self, x0):
        x = x0
        for i in range(self.n):
            x = x0 * self.w[i](x) + self.b[i] + x
        return x


class DCN(nn.Cell):
    def __init__(self):
        super().__init__()
        self.embs = nn.CellList([nn.Embedding(7, 3) for _ in range(2)])
        self.cross = Cross(8, 2)
        self.deep = nn.SequentialCell([nn.Dense(8, 16, activation="relu"), nn.Dense(16, 4, activation="relu")])
        self.out = nn.Dense(12, 1)

    def construct(self, ids, dense):
        es = [emb(ids[:, i]) for i, emb in enumerate(self.embs)]
        x = ops.concat([*es, dense], 1)
        return ops.sigmoid(self.out(ops.concat((self.cross(x), self.deep(x)), 1))).squeeze(1)


net = DCN()


class L(nn.Cell):
    def __init__(self, net):
        super().__init__(auto_prefix=False)
        self.net = net
        self.loss = nn.BCELoss(reduction="mean")

    def construct(self, i, d, y):
        return self.loss(self.net(i, d), y)


step = nn.TrainOneStepCell(L(net), nn.Adam(net.trainable_params(), 1e-2)).set_train()
for _ in range(2):
    print(step(labels(3, 2, classes=7, seed=0), data(3, 2), Tensor(np.array([0, 1, 1], np.float32))))
