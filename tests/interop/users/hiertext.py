"""Words under convolutions of several widths, pooled over time; attention over the sentences of a document."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(1)


class SentenceCNN(nn.Cell):
    def __init__(self, vocab=20, d=5, f=3, widths=(2, 3)):
        super().__init__()
        self.emb = nn.Embedding(vocab, d, padding_idx=0)
        self.convs = nn.CellList([nn.Conv1d(d, f, w, pad_mode="valid", has_bias=True) for w in widths])
        self.drop = nn.Dropout(p=0.0)

    def construct(self, ids):
        x = self.emb(ids).swapaxes(1, 2)
        outs = []
        for conv in self.convs:
            outs.append(ops.relu(conv(x)).max(axis=2))
        return self.drop(ops.concat(outs, 1))


class Document(nn.Cell):
    def __init__(self, classes=3):
        super().__init__()
        self.sent = SentenceCNN()
        self.proj = nn.Dense(6, 4, activation="tanh")
        self.query = Parameter(Tensor(np.linspace(-1, 1, 4), ms.float32), name="query")
        self.cls = nn.Dense(6, classes)

    def construct(self, ids, mask):
        b, s, w = ids.shape
        h = self.sent(ids.reshape(b * s, w)).reshape(b, s, -1)
        score = (self.proj(h) * self.query).sum(-1)
        score = ops.masked_fill(score, mask == 0, -1e9)
        a = ops.softmax(score, -1)
        return self.cls((a.expand_dims(-1) * h).sum(1))


class Loss(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def construct(self, ids, mask, y):
        return ops.cross_entropy(self.net(ids, mask), y, label_smoothing=0.1)


rng = np.random.RandomState(31)
net = Document()
for p in net.trainable_params():
    if p.ndim >= 2:
        p.set_data(Tensor(rng.randn(*p.shape) * 0.4, ms.float32))
ids = Tensor(rng.randint(1, 20, (2, 3, 5)), ms.int32)
mask = Tensor([[1, 1, 1], [1, 1, 0]], ms.int32)
y = Tensor([2, 0], ms.int32)
step = nn.TrainOneStepCell(Loss(net), nn.Adagrad(net.trainable_params(), learning_rate=0.1))
step.set_train()
for i in range(3):
    print(i, step(ids, mask, y))
print(net(ids, mask))
