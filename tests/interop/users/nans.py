"""NaN and infinity through operators, losses and clipping."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

x = Tensor(np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0], np.float32))
print(ops.isnan(x), ops.isinf(x), ops.isfinite(x))
print(x + 1, x * 0, x / x, 1 / x)
print(ops.exp(x), ops.log(x), ops.sqrt(x))
print(ops.relu(x), ops.sigmoid(x), ops.maximum(x, Tensor(0.0)), ops.minimum(x, Tensor(0.0)))
print(x == x, x > 0, x < 0, x != x)
print(ops.where(ops.isnan(x), ops.zeros_like(x), x))
print(ops.clip_by_value(x, -1.0, 1.0))
finite = ops.masked_fill(x, ops.logical_not(ops.isfinite(x)), 0.0)
print(finite, finite.sum(), finite.abs().max())
print(
    ops.softmax(Tensor([1e30, 1.0, -1e30])),
    ops.log_softmax(Tensor([1e4, 0.0])),
    ops.logsumexp(Tensor([1000.0, 1000.0]), 0),
)
print(ops.floor(x), ops.round(Tensor([0.5, 1.5, 2.5, -0.5])), ops.sign(x))
print(Tensor([1e38], ms.float32) * 10, Tensor([6e4], ms.float16) * 2, Tensor([2147483647], ms.int32) + 1)
g = ms.grad(lambda v: ops.sqrt(v).sum())(Tensor([0.0, 4.0]))
print(g)
g = ms.grad(lambda v: ops.where(v > 0, ops.log(v), ops.zeros_like(v)).sum())(Tensor([0.0, 2.0]))
print(g)
print(
    ms.grad(lambda v: ops.abs(v).sum())(Tensor([0.0, -2.0])), ms.grad(lambda v: ops.relu(v).sum())(Tensor([0.0, 2.0]))
)
print(ms.grad(lambda v: ops.maximum(v, Tensor([1.0, 1.0])).sum())(Tensor([1.0, 2.0])))
print(ms.grad(lambda v: ops.norm(v))(Tensor([3.0, 4.0])), ms.grad(lambda v: v.max())(Tensor([2.0, 2.0, 1.0])))
