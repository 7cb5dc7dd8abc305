"""Iterable source, bucketed batches padded by a function, masked mean, checkpoints each epoch, exported best."""

import os
import tempfile

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops
from mindspore.train import F1, ConfusionMatrix

ms.set_seed(2)
np.random.seed(2)
LENGTHS = [3, 5, 2, 4, 6, 2, 5, 3]


class Source:
    def __iter__(self):
        rng = np.random.RandomState(0)
        for k, n in enumerate(LENGTHS):
            yield rng.randint(1, 9, n).astype(np.int32), np.int32(k % 2)


def pad(seqs, labels, info):
    m = max(len(s) for s in seqs)
    ids = [np.pad(s, (0, m - len(s))) for s in seqs]
    masks = [(np.arange(m) < len(s)).astype(np.float32) for s in seqs]
    return ids, masks, labels


data = ds.GeneratorDataset(Source(), ["ids", "label"], shuffle=False)
data = data.batch(2, per_batch_map=pad, input_columns=["ids", "label"], output_columns=["ids", "mask", "label"])
for row in data.create_dict_iterator(output_numpy=True, num_epochs=1):
    print(row["ids"].shape, row["mask"].sum(1), row["label"])


class Bag(nn.Cell):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(9, 6, padding_idx=0)
        self.fc = nn.Dense(6, 2)

    def construct(self, ids, mask):
        e = self.emb(ids) * mask.expand_dims(-1)
        return self.fc(e.sum(1) / mask.sum(1, keepdims=True))


class WithLoss(nn.Cell):
    def __init__(self, net):
        super().__init__(auto_prefix=False)
        self.net = net

    def construct(self, ids, mask, y):
        return ops.cross_entropy(self.net(ids, mask), y)


net = Bag()
opt = nn.Adam(net.trainable_params(), 0.05)
step = nn.TrainOneStepCell(WithLoss(net), opt)
step.set_train()
best = None
with tempfile.TemporaryDirectory() as where:
    for epoch in range(2):
        total = 0.0
        for ids, mask, y in data.create_tuple_iterator():
            total += float(step(ids, mask, y))
        print(f"epoch {epoch} loss {total / data.get_dataset_size():.4f}")
        if best is None or total < best:
            best = total
            ms.save_checkpoint(net, os.path.join(where, "best"))
    print(os.listdir(where))
    params = ms.load_checkpoint(os.path.join(where, "best.ckpt"))
    print({k: v.shape for k, v in params.items()}, ms.load_param_into_net(Bag(), params))
f1, cm = F1(), ConfusionMatrix(num_classes=2)
f1.clear()
cm.clear()
for ids, mask, y in data.create_tuple_iterator():
    p = ops.softmax(net(ids, mask), -1)
    f1.update(p, y)
    cm.update(p, y)
print(np.round(f1.eval(), 4), cm.eval())
