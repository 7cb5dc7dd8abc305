"""The weights of BatchNorm, which it takes as memory, read after it: such reads do not move to the start."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(1)
rng = np.random.default_rng(0)


class Two(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(4, 4)
        self.b = nn.BatchNorm1d(4)

    def construct(self, x):
        return self.b(self.fc(x)) + self.b.gamma.sum() + (self.b.beta * self.fc.bias).sum()


class Last(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(4, 4)
        self.b = nn.BatchNorm1d(4)
        self.c = nn.BatchNorm1d(4)

    def construct(self, x):
        x = self.b(self.fc(x))
        return self.c(x * self.b.gamma) * self.b.beta + self.c.gamma * self.fc.bias


for net in (Two(), Last()):
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1))
    step.set_train()
    step(*(Tensor(rng.standard_normal((3, 4)).astype(np.float32)) for _ in range(2)))
