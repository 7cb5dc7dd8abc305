"""nn.TransformerEncoder for sequence tagging, with a key padding mask."""

import math

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_seed(64)
np.random.seed(64)


class PositionalEncoding(nn.Cell):
    def __init__(self, d, maxlen=20):
        super().__init__()
        pe = np.zeros((maxlen, d), np.float32)
        pos = np.arange(0, maxlen)[:, None]
        div = np.exp(np.arange(0, d, 2) * (-math.log(10000.0) / d))
        pe[:, 0::2] = np.sin(pos * div)
        pe[:, 1::2] = np.cos(pos * div)
        self.pe = Tensor(pe[None])

    def construct(self, x):
        return x + self.pe[:, : x.shape[1]]


class Tagger(nn.Cell):
    def __init__(self, vocab, d, tags):
        super().__init__()
        self.d = d
        self.embed = nn.Embedding(vocab, d)
        self.pos = PositionalEncoding(d)
        layer = nn.TransformerEncoderLayer(d, 2, dim_feedforward=16, dropout=0.0, activation="gelu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.out = nn.Dense(d, tags)

    def construct(self, ids, pad):
        x = self.pos(self.embed(ids) * math.sqrt(self.d))
        x = self.encoder(x, src_key_padding_mask=pad)
        return self.out(x)


net = Tagger(15, 8, 4)
opt = nn.Adam(net.trainable_params(), learning_rate=0.005, beta2=0.98, eps=1e-9)


def loss_fn(ids, pad, tags):
    logits = net(ids, pad)
    loss = ops.cross_entropy(logits.reshape(-1, 4), tags.reshape(-1), reduction="none")
    w = 1.0 - pad.reshape(-1).astype(ms.float32)
    return (loss * w).sum() / w.sum()


vg = ms.value_and_grad(loss_fn, None, opt.parameters)
ids = np.random.randint(1, 15, (3, 6))
ids[1, 4:] = 0
ids[2, 3:] = 0
tags = Tensor(np.random.randint(0, 4, (3, 6)), ms.int32)
pad = Tensor(ids == 0)
ids = Tensor(ids, ms.int32)
net.set_train()
for i in range(2):
    loss, grads = vg(ids, pad, tags)
    opt(grads)
    print(i, f"{loss.asnumpy():.5f}")
net.set_train(False)
print(net(ids, pad).shape)
