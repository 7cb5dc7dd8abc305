import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

ms.set_seed(8)


class Net(nn.Cell):
    """A small convolutional network that keeps an average of its weights."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, pad_mode="pad", padding=1, has_bias=True)
        self.norm = nn.GroupNorm(2, 4)
        self.pool = nn.AdaptiveAvgPool2d((1, 1))
        self.head = nn.Dense(4, 3)
        self.seen = Parameter(Tensor(0, ms.int32), name="seen", requires_grad=False)

    def construct(self, x):
        self.seen += x.shape[0]
        return self.head(self.pool(ops.relu(self.norm(self.conv(x)))).flatten(start_dim=1))


rng = np.random.default_rng(8)
images = rng.normal(size=(12, 1, 6, 6)).astype(np.float32)
labels = np.eye(3, dtype=np.float32)[rng.integers(0, 3, 12)]
net = Net()
optimizer = nn.Adagrad(net.trainable_params(), learning_rate=0.1)
criterion = nn.CrossEntropyLoss()
step = ms.value_and_grad(lambda a, b: criterion(net(a), b), None, net.trainable_params())
average = {p.name: p.asnumpy().copy() for p in net.trainable_params()}
for epoch in range(6):
    share = rng.beta(0.5, 0.5)
    order = rng.permutation(12)
    mixed = share * images + (1 - share) * images[order]
    wanted = share * labels + (1 - share) * labels[order]
    loss, gradients = step(Tensor(mixed.astype(np.float32)), Tensor(wanted.astype(np.float32)))
    optimizer(gradients)
    for p in net.trainable_params():
        average[p.name] = 0.9 * average[p.name] + 0.1 * p.asnumpy()
    print(f"{epoch} {float(loss.asnumpy()):.4f} {float(gradients[0].abs().max().asnumpy()):.4f}")
ms.load_param_into_net(net, {name: Parameter(Tensor(value), name=name) for name, value in average.items()})
print(int(net.seen.asnumpy()), [f"{v:.3f}" for v in net(Tensor(images[:2])).asnumpy().ravel()])
