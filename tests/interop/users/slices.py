"""Indexing, views, masks and in-place writes as notebooks use them."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

a = Tensor(np.arange(24).reshape(2, 3, 4).astype(np.float32))
print(a[0, 1], a[..., -1], a[:, ::2, 1:3].shape, a[None].shape, a[:, None, 0].shape)
print(a[1][2][3], a[-1, -1, -1], a[[0, 1], [1, 2]], a[Tensor([1, 0])][0, 0])
b = a + 0
b[0][1] = 100
b[1, :, 2] = Tensor([7.0, 8.0, 9.0])
b[b > 50] = -1
print(b)
row = b[1, 2]
row[0] = 55
print(b[1, 2], row)
flat = b.reshape(-1)
flat[5] = 77
print(b[0, 1])
m = Tensor(np.eye(3, dtype=np.float32))
m[0], m[1] = 2, m[2]
m[:, 1] += 10
m[1:, 1:] *= 2
print(m)
print(m.T[0], m.swapaxes(0, 1)[1], m.flatten()[3:6])
t = Tensor([5, 3, 9, 1])
vals, idx = ops.topk(t.astype(ms.float32), 2)
print(vals, idx, t[idx], t.argmax())
s, order = ops.sort(t.astype(ms.float32), descending=True)
print(s, order)
print(ops.gather(m, Tensor([2, 0]), 0), ops.gather_elements(m, 1, Tensor([[0], [1], [2]])))
print(ops.masked_fill(m, m > 5, -1.0), ops.where(m > 1, m, ops.zeros_like(m)))
print(ops.tensor_scatter_elements(ops.zeros((3,), ms.float32), Tensor([0, 2]), Tensor([1.0, 2.0]), 0))
print(ops.cumsum(t, 0), t.max(), t.min(), float(t.astype(ms.float32).mean()))
print(ops.nonzero(t > 3), (t > 3).any(), (t > 3).all(), ops.count_nonzero(t - 3))
print(ops.unsqueeze(t, 0).shape, ops.squeeze(t[None, :, None]).shape, ops.stack([t, t], 1).shape)
print([x.shape for x in ops.split(Tensor(np.zeros((7, 2))), [2, 5])], [c.tolist() for c in ops.chunk(t, 2)])
