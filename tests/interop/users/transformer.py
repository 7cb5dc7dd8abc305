"""A transformer encoder layer written by hand: heads, masks, pre-norm, warm-up by hand."""

import math

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_seed(11)


class Heads(nn.Cell):
    def __init__(self, size, heads):
        super().__init__()
        self.heads, self.width = heads, size // heads
        self.qkv = nn.Dense(size, 3 * size)
        self.out = nn.Dense(size, size)

    def construct(self, x, mask):
        b, t, c = x.shape
        q, k, v = ops.split(self.qkv(x), c, axis=2)
        q = q.reshape(b, t, self.heads, self.width).transpose(0, 2, 1, 3)
        k = k.reshape(b, t, self.heads, self.width).transpose(0, 2, 1, 3)
        v = v.reshape(b, t, self.heads, self.width).transpose(0, 2, 1, 3)
        scores = ops.matmul(q, k.swapaxes(-1, -2)) / math.sqrt(self.width)
        scores = scores.masked_fill(mask == 0, -1e9)
        y = ops.matmul(ops.softmax(scores, -1), v)
        return self.out(y.transpose(0, 2, 1, 3).reshape(b, t, c))


class Block(nn.Cell):
    def __init__(self, size):
        super().__init__()
        self.a, self.b = nn.LayerNorm((size,)), nn.LayerNorm((size,))
        self.heads = Heads(size, 2)
        self.mlp = nn.SequentialCell(nn.Dense(size, 2 * size), nn.GELU(), nn.Dense(2 * size, size))

    def construct(self, x, mask):
        x = x + self.heads(self.a(x), mask)
        return x + self.mlp(self.b(x))


class Model(nn.Cell):
    def __init__(self):
        super().__init__()
        self.token = nn.Embedding(13, 8)
        self.place = ms.Parameter(Tensor(np.linspace(-1, 1, 48).reshape(6, 8), ms.float32), name="place")
        self.blocks = nn.CellList([Block(8) for _ in range(2)])
        self.head = nn.Dense(8, 13, has_bias=False)

    def construct(self, x, mask):
        h = self.token(x) + self.place
        for block in self.blocks:
            h = block(h, mask)
        return self.head(h)


net = Model()
mask = Tensor(np.tril(np.ones((1, 1, 6, 6))), ms.int32)
optimizer = nn.AdamWeightDecay(net.trainable_params(), 0.01)
r = np.random.RandomState(3)
x = Tensor(r.randint(0, 13, (3, 6)), ms.int32)


def forward(x):
    logits = net(x, mask)
    return ops.cross_entropy(logits[:, :-1].reshape(-1, 13), x[:, 1:].reshape(-1))


step = ms.value_and_grad(forward, None, optimizer.parameters)
for _ in range(4):
    loss, grads = step(x)
    optimizer(grads)
    print(f"{float(loss):.4f}")
print(net(x, mask).shape)
