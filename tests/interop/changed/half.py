import zlib

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE, device_target="CPU")
ms.set_seed(1)


def drawn(name, *shape):
    random = np.random.RandomState(zlib.crc32(name.encode()))
    return random.normal(size=shape).astype(np.float32) / 2


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Dense(6, 8).to_float(ms.float16)
        self.tanh = nn.Tanh()
        self.fc2 = nn.Dense(8, 4)

    def construct(self, x):
        x = self.tanh(self.fc1(x))
        x = ops.cast(x, ms.float32)
        x = ops.concat((x[:, :4], x[:, 4:] * 2.0), 1)
        return self.fc2(x)


net = Net()
for parameter in net.trainable_params():
    parameter.set_data(Tensor(drawn(parameter.name, *parameter.shape)))
loss = nn.L1Loss(reduction="mean")
optimizer = nn.SGD(net.trainable_params(), learning_rate=0.05, momentum=0.5)
step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer)
step.set_train()
for index in range(2):
    x, y = drawn(f"x{index}", 3, 6), drawn(f"y{index}", 3, 4)
    step(Tensor(x), Tensor(y))
