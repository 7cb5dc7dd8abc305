"""Convolutions over a sequence."""

from feed import data, labels, train
from mindspore import nn, ops


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv1d(2, 4, 3, pad_mode="same")
        self.c2 = nn.Conv1d(4, 4, 3, stride=2, pad_mode="valid", has_bias=True)
        self.bn = nn.BatchNorm1d(4 * 4)
        self.fc = nn.Dense(16, 3)

    def construct(self, x):
        x = ops.relu(self.c1(x))
        x = ops.relu(self.c2(x))
        x = self.bn(x.reshape(x.shape[0], -1))
        return self.fc(x)


x, y = data(3, 2, 10), labels(3, classes=3)
net = Net()
print(net(x))
train(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True), nn.Momentum(net.trainable_params(), 0.1, 0.9), x, y, 1)
