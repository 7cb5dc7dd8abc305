import zlib

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn

ms.set_context(mode=ms.GRAPH_MODE, device_target="CPU")
ms.set_seed(1)


def drawn(name, *shape):
    random = np.random.RandomState(zlib.crc32(name.encode()))
    return random.normal(size=shape).astype(np.float32) / 2


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Dense(8, 6)
        self.act = nn.ReLU()
        self.norm = nn.BatchNorm1d(6, eps=1e-5, momentum=0.9)
        self.fc2 = nn.Dense(6, 6)
        self.out = nn.Dense(6, 4)
        self.scale = Parameter(Tensor(np.ones(6, np.float32)), name="scale")

    def construct(self, x):
        x = self.norm(self.fc1(x))
        x = self.act(x)
        x = x + self.act(self.fc2(x))
        x = x * self.scale
        return self.out(x)


net = Net()
for parameter in net.trainable_params():
    parameter.set_data(Tensor(drawn(parameter.name, *parameter.shape)))
loss = nn.MSELoss(reduction="mean")
optimizer = nn.Momentum(net.trainable_params(), learning_rate=0.1, momentum=0.9)
step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer)
step.set_train()
for index in range(2):
    x, y = drawn(f"x{index}", 5, 8), drawn(f"y{index}", 5, 4)
    step(Tensor(x), Tensor(y))
