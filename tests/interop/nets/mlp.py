"""Two dense layers, forward, two steps."""

import mindspore as ms
import numpy as np
from mindspore import nn

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_device("CPU")


class MLP(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Dense(4, 8, activation="relu")
        self.fc2 = nn.Dense(8, 3)

    def construct(self, x):
        return self.fc2(self.fc1(x))


net = MLP()
x = ms.Tensor((np.arange(8) / 8).reshape(2, 4).astype(np.float32))
for _ in range(2):
    print(net(x))
