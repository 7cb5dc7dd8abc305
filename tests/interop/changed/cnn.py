import zlib

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn

ms.set_context(mode=ms.GRAPH_MODE, device_target="CPU")
ms.set_seed(1)


def drawn(name, *shape):
    random = np.random.RandomState(zlib.crc32(name.encode()))
    return random.normal(size=shape).astype(np.float32) / 3


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 4, 3, pad_mode="same", has_bias=True)
        self.bn = nn.BatchNorm2d(4, eps=1e-5)
        self.act = nn.ReLU()
        self.pool = nn.MaxPool2d(kernel_size=2, stride=2)
        self.conv2 = nn.Conv2d(4, 6, 3, pad_mode="same")
        self.flatten = nn.Flatten()
        self.fc = nn.Dense(6 * 4 * 4, 5)

    def construct(self, x):
        x = self.pool(self.act(self.bn(self.conv1(x))))
        x = self.act(self.conv2(x))
        return self.fc(self.flatten(x))


net = Net()
for parameter in net.trainable_params():
    parameter.set_data(Tensor(drawn(parameter.name, *parameter.shape)))
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
optimizer = nn.Adam(net.trainable_params(), learning_rate=0.01, beta1=0.9, beta2=0.999, eps=1e-8)
step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer, sens=1.0)
step.set_train()
for index in range(2):
    x, y = drawn(f"x{index}", 2, 3, 8, 8), np.array([index, 3 + index], np.int32)
    step(Tensor(x), Tensor(y))
