"""A frozen base with low-rank adapters; only these train; merged for inference."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common.initializer import Normal, Zero, initializer

ms.set_seed(11)
ms.set_context(mode=ms.GRAPH_MODE)


class LoraDense(nn.Cell):
    def __init__(self, base, rank=2, alpha=4.0):
        super().__init__()
        self.base = base
        for p in base.get_parameters():
            p.requires_grad = False
        self.a = Parameter(initializer(Normal(0.1), (rank, base.in_channels)), name="lora_a")
        self.b = Parameter(initializer(Zero(), (base.out_channels, rank)), name="lora_b")
        self.scale = alpha / rank

    def construct(self, x):
        delta = ops.matmul(ops.matmul(x, self.a.T), self.b.T)
        return self.base(x) + self.scale * delta


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc1 = LoraDense(nn.Dense(5, 7))
        self.fc2 = LoraDense(nn.Dense(7, 2))

    def construct(self, x):
        return self.fc2(ops.gelu(self.fc1(x)))


net = Net()
names = [p.name for p in net.trainable_params()]
print(names)
rng = np.random.RandomState(1)
x, y = Tensor(rng.randn(8, 5).astype(np.float32)), Tensor(rng.randn(8, 2).astype(np.float32))
opt = nn.AdamWeightDecay(net.trainable_params(), learning_rate=0.05, weight_decay=0.01)
train = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), opt)
train.set_train()
before = net.fc1.base.weight.asnumpy().copy()
for i in range(5):
    print(i, f"{float(train(x, y)):.5f}")
print(np.array_equal(before, net.fc1.base.weight.asnumpy()))
merged = net.fc1.base.weight.asnumpy() + net.fc1.scale * net.fc1.b.asnumpy() @ net.fc1.a.asnumpy()
net.fc1.base.weight.set_data(Tensor(merged))
net.fc1.b.set_data(ops.zeros_like(net.fc1.b))
print(np.round(net(x).asnumpy()[0], 4))
