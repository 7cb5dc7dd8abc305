"""Numbers: two networks, a recompilation for another shape, training and evaluation of one network."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)


class Net(nn.Cell):
    """A dense layer and a layer that differs in training."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(3, 3)
        self.bn = nn.BatchNorm1d(3)

    def construct(self, x, scale):
        return self.bn(self.fc(x)) * scale


class Other(nn.Cell):
    """Another class with an equal name inside."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(3, 3)

    def construct(self, x):
        return ops.relu(self.fc(x))


small = Tensor(np.ones((2, 3), np.float32))
large = Tensor(np.ones((4, 3), np.float32))
net, other = Net(), Other()
net(small, 2.0)
other(small)
net(large, 2.0)
net(small, 3.0)
net(small, 2.0)
net.set_train()
net(small, 2.0)
Net()(small, 2.0)
