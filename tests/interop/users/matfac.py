"""A recommender: matrix factorisation with biases, negative sampling, BPR loss, hit rate."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore import dataset as ds
from mindspore.common.initializer import Normal

ms.set_context(mode=ms.GRAPH_MODE)


class MF(nn.Cell):
    def __init__(self, users, items, dim):
        super().__init__()
        self.user = nn.Embedding(users, dim, embedding_table=Normal(0.1))
        self.item = nn.Embedding(items, dim, embedding_table=Normal(0.1))
        self.item_bias = nn.Embedding(items, 1, embedding_table="zeros")

    def score(self, u, i):
        return (self.user(u) * self.item(i)).sum(-1) + self.item_bias(i).squeeze(-1)

    def construct(self, u, pos, neg):
        return self.score(u, pos), self.score(u, neg)


class BPR(nn.Cell):
    def __init__(self, net, reg=0.01):
        super().__init__()
        self.net = net
        self.reg = reg
        self.log_sigmoid = nn.LogSigmoid()

    def construct(self, u, pos, neg):
        p, n = self.net(u, pos, neg)
        loss = -self.log_sigmoid(p - n).mean()
        norm = ops.square(self.net.user(u)).sum() + ops.square(self.net.item(pos)).sum()
        return loss + self.reg * norm / u.shape[0]


ms.set_seed(3)
net = MF(6, 8, 4)
r = np.random.RandomState(9)
for p in net.get_parameters():
    p.set_data(Tensor(r.randn(*p.shape) * 0.2, ms.float32))
pairs = np.array([(u, (u * 2 + k) % 8) for u in range(6) for k in range(2)], np.int32)
neg = ((pairs[:, 1] + 3) % 8).astype(np.int32)
data = ds.NumpySlicesDataset({"u": pairs[:, 0], "i": pairs[:, 1], "n": neg}, shuffle=False).batch(4)
opt = nn.Adagrad(net.trainable_params(), learning_rate=0.1)
step = nn.TrainOneStepCell(BPR(net), opt)
step.set_train()
for epoch in range(2):
    total = 0.0
    for row in data.create_dict_iterator():
        total += float(step(row["u"], row["i"], row["n"]))
    print("epoch", epoch, round(total, 4))
users = Tensor(np.repeat(np.arange(6), 8), ms.int32)
items = Tensor(np.tile(np.arange(8), 6), ms.int32)
scores = net.score(users, items).reshape(6, 8)
top = ops.topk(scores, 3)[1].asnumpy()
hits = np.mean([pairs[2 * u, 1] in top[u] for u in range(6)])
print("hit@3", hits, scores.mean())
