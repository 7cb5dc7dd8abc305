"""Assignment to elements of tensors, outside of graphs and within construct."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn


class Fill(nn.Cell):
    def construct(self, x, v):
        x[0] = 1.0
        x[1:3, 0] = v
        x[..., 2] = 5.0
        x[3] = x[1] + 1
        return x * 2


for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
    ms.set_context(mode=mode)
    print(Fill()(Tensor(np.zeros((4, 3)), ms.float32), Tensor([7.0, 8.0])))
y = Tensor(np.arange(12).reshape(3, 4), ms.float32)
y[1] = 0
y[y > 8] = -1
y[:, Tensor([0, 3])] = Tensor([[100.0, 200.0]])
y[2, 2] = y[0, 1] * 3
y[0, ::2] = Tensor([9.0, 9.5])
print(y)
z = Tensor(np.arange(6), ms.int32)
z[2:4] = Tensor([50, 60], ms.int32)
z[-1] = 7
print(z)
