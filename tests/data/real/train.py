"""Two training steps of a convolution and a dense layer: gradients, optimizer, passes that renumber, reshaped views."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn

ms.set_context(mode=ms.GRAPH_MODE, device_target="CPU")
ms.set_seed(1)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3, pad_mode="valid", has_bias=True)
        self.relu = nn.ReLU()
        self.flatten = nn.Flatten()
        self.fc = nn.Dense(8, 3)

    def construct(self, x):
        return self.fc(self.flatten(self.relu(self.conv(x))))


net = Net()
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), nn.Momentum(net.trainable_params(), 0.1, 0.9))
step.set_train(True)
x = Tensor(np.arange(32, dtype=np.float32).reshape(2, 1, 4, 4) / 32)
for _ in range(2):
    step(x, Tensor(np.array([0, 2], np.int32)))
