"""A convolutional autoencoder: Conv2d, MaxPool2d, Conv2dTranspose, BCEWithLogitsLoss."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(2)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.down = nn.SequentialCell([nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2, 2)])
        self.up = nn.Conv2dTranspose(4, 1, 2, stride=2)

    def construct(self, x):
        return self.up(self.down(x))


net = Net()
step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.BCEWithLogitsLoss()), nn.Adam(net.trainable_params(), 0.02))
step.set_train()
x = Tensor(np.random.RandomState(0).rand(2, 1, 8, 8).astype(np.float32))
for _ in range(3):
    print(f"loss {float(step(x, x).asnumpy()):.5f}")
