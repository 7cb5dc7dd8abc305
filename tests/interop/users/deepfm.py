"""A click model: factorisation machine over fields, embeddings of one and of three."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_seed(19)


class DeepFM(nn.Cell):
    def __init__(self, vocab=20, fields=4, size=3):
        super().__init__()
        self.first = nn.Embedding(vocab, 1)
        self.second = nn.Embedding(vocab, size)
        self.deep = nn.SequentialCell(nn.Dense(fields * size, 8, activation="relu"), nn.Dense(8, 1))
        self.sum = ops.ReduceSum(keep_dims=False)

    def construct(self, ids, values):
        mask = ops.expand_dims(values, 2)
        linear = self.sum(self.first(ids) * mask, 1)
        v = self.second(ids) * mask
        fm = 0.5 * self.sum(ops.square(self.sum(v, 1)) - self.sum(ops.square(v), 1), 1)
        return linear + fm.expand_dims(1) + self.deep(v.reshape(v.shape[0], -1))


net = DeepFM()
loss = nn.BCEWithLogitsLoss()
opt = nn.Adam(net.trainable_params(), 0.01)
grad = ms.value_and_grad(lambda i, v, y: loss(net(i, v), y), None, opt.parameters)
r = np.random.RandomState(0)
ids, vals = Tensor(r.randint(0, 20, (6, 4)), ms.int32), Tensor(r.rand(6, 4), ms.float32)
y = Tensor(r.randint(0, 2, (6, 1)), ms.float32)
for _ in range(3):
    value, g = grad(ids, vals, y)
    opt(g)
    print(f"{float(value):.5f}")
