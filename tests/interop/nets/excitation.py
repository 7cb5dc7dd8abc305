"""Squeeze and excitation with weight decay, then evaluation."""

from feed import data, labels
from mindspore import nn, ops


class SE(nn.Cell):
    def __init__(self, c, r=2):
        super().__init__()
        self.fc = nn.SequentialCell([nn.Dense(c, c // r), nn.ReLU(), nn.Dense(c // r, c), nn.Sigmoid()])

    def construct(self, x):
        b, c, _, _ = x.shape
        y = x.mean((2, 3))
        y = self.fc(y).view(b, c, 1, 1)
        return x * y


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 3, pad_mode="same")
        self.bn = nn.BatchNorm2d(4)
        self.se = SE(4)
        self.pool = nn.MaxPool2d(2, 2)
        self.head = nn.Dense(4 * 3 * 3, 3)

    def construct(self, x):
        x = self.pool(ops.relu(self.bn(self.stem(x))))
        x = self.se(x) + x
        return self.head(x.reshape((x.shape[0], -1)))


net = Net()
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
opt = nn.Momentum(net.trainable_params(), 0.05, 0.9, weight_decay=1e-4)
step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), opt)
step.set_train()
for i in range(2):
    print(step(data(2, 3, 6, 6, seed=i), labels(2, classes=3, seed=i)))
