"""einsum, broadcasting, batched products, reshapes and their gradients."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

r = np.random.RandomState(3)
a, b = Tensor(r.randn(2, 3, 4).astype(np.float32)), Tensor(r.randn(2, 4, 5).astype(np.float32))
v, w = Tensor(r.randn(4).astype(np.float32)), Tensor(r.randn(3).astype(np.float32))


def show(t):
    print(t.shape, t.dtype, np.round(t.asnumpy().ravel()[:5], 4))


show(ops.bmm(a, b))
show(a @ b)
show(a @ v)
show(ops.matmul(w, a[0]))
show(ops.outer(v, w))
show(ops.inner(v, v))
show(a + v)
show(a * w[:, None])
show(a - a.mean(axis=(0, 2), keep_dims=True))
show(ops.broadcast_to(w, (2, 3)))
show(ops.tile(w, (2, 2)))
show(ops.repeat_interleave(w, 2))
show(ops.flip(w, (0,)))
show(a.transpose(2, 0, 1))
show(a.permute(1, 2, 0))
show(ops.meshgrid(v, w, indexing="ij")[1])
show(ops.triu(a[0]))
show(ops.tril(a, -1))
show(ops.concat([a, a], -1))
show(ops.stack([a[0], a[1]], axis=2))
show(a.reshape(-1, 2))
show(ops.diag(w))
show(ops.eye(3))
show(ops.norm(a, dim=-1))
show(ops.std(a, axis=0))
show(ops.var(a, axis=1))
show(ops.logsumexp(a, 1))
show(ops.cumsum(a, 1))
show(ops.prod(a, 2))
show(ops.argmax(a, -1))
show(ops.arange(0, 5))
show(ops.one_hot(Tensor([0, 2]), 3))
show(ops.full((2, 2), 3.5))
show(ops.rand(2, 2) * 0)


def f(a, b, v):
    s = ops.bmm(a, b).sum(0) * v[:, None][:3]
    return (ops.tanh(s) * ops.cumsum(s, 0)).sum() + ops.norm(a) + (a.max(axis=2) * a.min(axis=2)).sum()


for g in ms.grad(f, (0, 1, 2))(a, b, v):
    show(g)
