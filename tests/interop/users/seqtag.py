"""BiGRU tagger with padding masks, lengths and a label-smoothed loss, in PyNative mode."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_seed(5)
rng = np.random.RandomState(2)
ids = rng.randint(1, 12, (4, 6))
lens = np.array([6, 4, 3, 5])
for i, n in enumerate(lens):
    ids[i, n:] = 0
tags = np.where(ids > 0, ids % 3, -1).astype(np.int32)


class Tagger(nn.Cell):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(12, 5, padding_idx=0)
        self.rnn = nn.GRU(5, 4, bidirectional=True, batch_first=True)
        self.drop = nn.Dropout(p=0.3)
        self.out = nn.Dense(8, 3)

    def construct(self, ids, lens):
        h, _ = self.rnn(self.emb(ids), seq_length=lens)
        return self.out(self.drop(h))


net = Tagger()
net.set_train(False)
loss_fn = nn.CrossEntropyLoss(ignore_index=-1, label_smoothing=0.1)


def forward(ids, lens, tags):
    logits = net(ids, lens)
    return loss_fn(logits.reshape(-1, 3), tags.reshape(-1))


opt = nn.Adam(net.trainable_params(), 0.02)
step = ms.value_and_grad(forward, None, opt.parameters)
for i in range(5):
    loss, grads = step(Tensor(ids, ms.int32), Tensor(lens, ms.int32), Tensor(tags))
    grads = ops.clip_by_global_norm(grads, 1.0)
    opt(grads)
    print(i, f"{float(loss):.4f}")
pred = net(Tensor(ids, ms.int32), Tensor(lens, ms.int32)).argmax(-1)
mask = Tensor(tags >= 0)
hits = ops.logical_and(pred.astype(ms.int32) == Tensor(tags), mask).astype(ms.float32).sum()
print(float(hits / mask.astype(ms.float32).sum()) > 0.3, pred.shape, pred.dtype)
