"""A vision transformer with a class token, stochastic depth off, label smoothing."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common.initializer import TruncatedNormal, initializer

ms.set_seed(29)


class Attention(nn.Cell):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.scale = heads, Tensor((dim // heads) ** -0.5, ms.float32)
        self.q, self.k, self.v = nn.Dense(dim, dim), nn.Dense(dim, dim), nn.Dense(dim, dim)
        self.proj = nn.Dense(dim, dim)
        self.qk, self.av = ops.BatchMatMul(transpose_b=True), ops.BatchMatMul()
        self.softmax = nn.Softmax(-1)

    def construct(self, x):
        b, n, c = x.shape
        shape = (b, n, self.heads, c // self.heads)
        q = self.q(x).view(shape).transpose(0, 2, 1, 3)
        k = self.k(x).view(shape).transpose(0, 2, 1, 3)
        v = self.v(x).view(shape).transpose(0, 2, 1, 3)
        attn = self.softmax(self.qk(q, k) * self.scale)
        return self.proj(self.av(attn, v).transpose(0, 2, 1, 3).reshape(b, n, c))


class ViT(nn.Cell):
    def __init__(self, dim=8):
        super().__init__()
        self.patch = nn.Conv2d(1, dim, 4, 4, pad_mode="valid", has_bias=True)
        self.cls = Parameter(initializer(TruncatedNormal(0.02), (1, 1, dim)), name="cls")
        self.pos = Parameter(initializer(TruncatedNormal(0.02), (1, 5, dim)), name="pos")
        self.norm1, self.norm2 = nn.LayerNorm([dim], epsilon=1e-6), nn.LayerNorm([dim], epsilon=1e-6)
        self.attn = Attention(dim, 2)
        self.mlp = nn.SequentialCell(nn.Dense(dim, 16), nn.GELU(approximate=False), nn.Dense(16, dim))
        self.head = nn.Dense(dim, 3)
        self.tile = ops.Tile()

    def construct(self, x):
        x = self.patch(x)
        b, c = x.shape[:2]
        x = x.reshape(b, c, -1).swapaxes(1, 2)
        x = ops.concat((self.tile(self.cls, (b, 1, 1)), x), 1) + self.pos
        x = x + self.attn(self.norm1(x))
        x = x + self.mlp(self.norm2(x))
        return self.head(x[:, 0])


net = ViT()
loss = nn.CrossEntropyLoss(label_smoothing=0.1)
opt = nn.AdamWeightDecay(net.trainable_params(), 1e-2, weight_decay=0.05)
step = ms.value_and_grad(lambda x, y: loss(net(x), y), None, opt.parameters)
r = np.random.RandomState(0)
x, y = Tensor(r.rand(4, 1, 8, 8), ms.float32), Tensor(r.randint(0, 3, 4), ms.int32)
for _ in range(3):
    value, g = step(x, y)
    opt(g)
    print(f"{float(value):.4f}")
print(net(x).argmax(1))
