"""Dilated convolutions."""

from feed import data, train
from mindspore import nn, ops


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(2, 4, 3, dilation=2, pad_mode="same")
        self.c2 = nn.Conv2d(4, 4, 3, dilation=2, pad_mode="pad", padding=2, group=2)
        self.c3 = nn.Conv2d(4, 2, (1, 3), stride=(1, 2), pad_mode="valid", has_bias=True)
        self.act = nn.LeakyReLU(0.1)

    def construct(self, x):
        return self.c3(self.act(self.c2(self.act(self.c1(x)))))


x = data(2, 2, 9, 9)
net = Net()
y = net(x)
train(net, nn.MSELoss("sum"), nn.SGD(net.trainable_params(), 0.001), x, ops.zeros_like(y), 2)
