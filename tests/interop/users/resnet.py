import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_seed(1)
ms.set_context(mode=ms.GRAPH_MODE)


class Block(nn.Cell):
    def __init__(self, inner, outer, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inner, outer, 3, stride, pad_mode="pad", padding=1)
        self.bn1 = nn.BatchNorm2d(outer)
        self.conv2 = nn.Conv2d(outer, outer, 3, pad_mode="pad", padding=1)
        self.bn2 = nn.BatchNorm2d(outer)
        self.relu = nn.ReLU()
        self.down = nn.SequentialCell(nn.Conv2d(inner, outer, 1, stride), nn.BatchNorm2d(outer))

    def construct(self, x):
        out = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return self.relu(out + self.down(x))


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.CellList([Block(1, 4, 1), Block(4, 8, 2)])
        self.head = nn.Dense(8, 3)

    def construct(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(ops.mean(x, (2, 3)))


net = Net()
rates = nn.cosine_decay_lr(0.0, 0.05, 4, 1, 4)
opt = nn.Momentum(net.trainable_params(), rates, 0.9, weight_decay=1e-4)
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), opt)
step.set_train()
r = np.random.RandomState(0)
for _ in range(3):
    x, y = Tensor(r.rand(4, 1, 8, 8).astype(np.float32)), Tensor(r.randint(0, 3, 4).astype(np.int32))
    print(f"{float(step(x, y)):.4f}")
