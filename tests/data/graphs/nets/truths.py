"""Whether elements of constants hold: computed when a graph is made, by numpy and not by the kernel."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3) + 1)
some = Tensor(np.array([[1, 0, 2], [0, 0, 0]], np.float32))
whole = Tensor(np.array([[1, 0, 2], [0, 0, 0]], np.int32))


class Any(nn.Cell):
    def construct(self, x):
        rows = ops.select(some.any(1, True), x[:, :1], x[:, 1:2])
        lines = ops.select(whole.any(0, True), x[:1], x[1:])
        return rows + lines + ops.any(some).astype(ms.float32)


class All(nn.Cell):
    def construct(self, x):
        rows = ops.select(some.all(1, True), x[:, :1], x[:, 1:2])
        return rows + ops.all(whole).astype(ms.float32)


for net in (Any, All):
    print(net()(x))
