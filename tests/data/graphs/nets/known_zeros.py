"""Zeros like a tensor, with the dtype named: the same one, another one; those of a mask in an attention."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor((np.arange(8).reshape(2, 4) - 3).astype(np.float32))
q = Tensor((np.arange(12).reshape(1, 3, 4) / 7).astype(np.float32))


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.mask = Tensor(np.triu(np.ones((2, 4)), 1).astype(bool))

    def construct(self, x):
        kept = x + ops.zeros_like(x, dtype=ms.float32)
        other = ops.maximum(x, ops.zeros_like(x, dtype=ms.float16))
        masked = ops.zeros_like(self.mask, dtype=ms.float32).masked_fill(self.mask, Tensor(-1.0, ms.float32))
        ones = x * ops.ones_like(x > 0, dtype=ms.float32)
        cast = x - ops.zeros_like(x > 0).astype(ms.float32)
        return kept, other, masked + x, ones, cast


class Masked(nn.Cell):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)
        self.mask = Tensor(np.triu(np.ones((3, 3)), 1).astype(bool))

    def construct(self, q):
        return self.attention(q, q, q, attn_mask=self.mask, need_weights=False)[0]


Net()(x)
Masked()(q)
