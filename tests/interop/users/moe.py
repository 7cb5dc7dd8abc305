"""A mixture of experts: a softmax gate over CellList experts, AdamWeightDecay."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(3)


class Mixture(nn.Cell):
    def __init__(self, width: int, experts: int):
        super().__init__()
        self.gate = nn.Dense(width, experts)
        self.experts = nn.CellList([nn.Dense(width, 2, activation="relu") for _ in range(experts)])

    def construct(self, x):
        weights = ops.softmax(self.gate(x), -1)
        total = 0
        for i, expert in enumerate(self.experts):
            total = total + expert(x) * weights[:, i : i + 1]
        return total


net = Mixture(5, 3)
step = nn.TrainOneStepCell(
    nn.WithLossCell(net, nn.MSELoss()),
    nn.AdamWeightDecay(net.trainable_params(), learning_rate=0.01, weight_decay=0.01),
)
random = np.random.RandomState(0)
x, y = (Tensor(random.randn(8, n).astype(np.float32)) for n in (5, 2))
for _ in range(4):
    print(f"loss {float(step(x, y).asnumpy()):.5f}")
