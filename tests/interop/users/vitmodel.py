"""Tiny ViT on random images, trained with Model.train."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import Parameter, nn, ops
from mindspore.common.initializer import TruncatedNormal, initializer
from mindspore.train import Accuracy, Callback, LossMonitor, Model

ms.set_seed(1)
np.random.seed(1)
ms.set_context(mode=ms.GRAPH_MODE)


class PatchEmbed(nn.Cell):
    def __init__(self, patch=4, dim=16):
        super().__init__()
        self.proj = nn.Conv2d(3, dim, patch, stride=patch, pad_mode="valid", has_bias=True)

    def construct(self, x):
        x = self.proj(x)
        b, c, h, w = x.shape
        return x.reshape(b, c, h * w).transpose(0, 2, 1)


class Attention(nn.Cell):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.scale = (dim // heads) ** -0.5
        self.qkv = nn.Dense(dim, dim * 3)
        self.out = nn.Dense(dim, dim)

    def construct(self, x):
        b, n, c = x.shape
        qkv = self.qkv(x).reshape(b, n, 3, self.heads, c // self.heads)
        qkv = qkv.transpose(2, 0, 3, 1, 4)
        q, k, v = ops.unstack(qkv, axis=0)
        attn = ops.softmax(ops.matmul(q, k.swapaxes(-1, -2)) * self.scale, axis=-1)
        x = ops.matmul(attn, v).transpose(0, 2, 1, 3).reshape(b, n, c)
        return self.out(x)


class Block(nn.Cell):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm((dim,))
        self.attn = Attention(dim, heads)
        self.norm2 = nn.LayerNorm((dim,))
        self.mlp = nn.SequentialCell(nn.Dense(dim, dim * 2), nn.GELU(), nn.Dense(dim * 2, dim))

    def construct(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class ViT(nn.Cell):
    def __init__(self, dim=16, depth=2, classes=4):
        super().__init__()
        self.patch = PatchEmbed(4, dim)
        self.cls = Parameter(initializer(TruncatedNormal(0.02), (1, 1, dim)), name="cls_token")
        self.pos = Parameter(initializer(TruncatedNormal(0.02), (1, 5, dim)), name="pos_embed")
        self.blocks = nn.CellList([Block(dim, 2) for _ in range(depth)])
        self.norm = nn.LayerNorm((dim,))
        self.head = nn.Dense(dim, classes)

    def construct(self, x):
        x = self.patch(x)
        cls = ops.broadcast_to(self.cls, (x.shape[0], 1, x.shape[2]))
        x = ops.concat((cls, x), axis=1) + self.pos
        for blk in self.blocks:
            x = blk(x)
        return self.head(self.norm(x)[:, 0])


class Report(Callback):
    def on_train_epoch_end(self, run_context):
        p = run_context.original_args()
        print("epoch", p.cur_epoch_num, f"loss {float(p.net_outputs.asnumpy()):.4f}")


images = np.random.randn(16, 3, 8, 8).astype(np.float32)
labels = np.random.randint(0, 4, (16,)).astype(np.int32)
train = ds.NumpySlicesDataset((images, labels), ["image", "label"], shuffle=False).batch(4)

net = ViT()
loss = nn.CrossEntropyLoss(label_smoothing=0.1)
opt = nn.AdamWeightDecay(net.trainable_params(), 1e-3, weight_decay=0.05)
model = Model(net, loss, opt, metrics={"acc": Accuracy()})
model.train(2, train, callbacks=[Report(), LossMonitor(2)], dataset_sink_mode=False)
print({k: float(v) for k, v in model.eval(train, dataset_sink_mode=False).items()})
