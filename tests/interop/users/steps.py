"""BatchNorm and Dropout between training and evaluation, moving statistics, checkpoints, parameter filters."""

import os
import tempfile

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_seed(2)
x = Tensor(np.random.RandomState(0).randn(6, 3, 5, 5).astype(np.float32))


class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, pad_mode="pad", padding=1, has_bias=True)
        self.bn = nn.BatchNorm2d(4, momentum=0.7)
        self.pool = nn.MaxPool2d(2, 2)
        self.flat = nn.Flatten()
        self.drop = nn.Dropout(p=0.5)
        self.fc = nn.Dense(16, 2)

    def construct(self, x):
        x = self.pool(ops.relu(self.bn(self.conv(x))))
        return self.fc(self.drop(self.flat(x)))


net = Block()
print(net.training, net.set_train().training, net.bn.training, net.set_train(False).drop.training)
y0 = net(x)
net.bn.set_train(True)
net(x)
net(x)
print(np.round(net.bn.moving_mean.asnumpy(), 4), np.round(net.bn.moving_variance.asnumpy(), 4))
net.set_train(False)
y1 = net(x)
print(np.round(y0.asnumpy()[0], 4), np.round(y1.asnumpy()[0], 4))
path = os.path.join(tempfile.mkdtemp(), "block.ckpt")
ms.save_checkpoint(net, path)
params = ms.load_checkpoint(path)
print(sorted(params), type(params["fc.weight"]).__name__, params["fc.weight"].shape)
other = Block()
missing, unexpected = ms.load_param_into_net(other, {k: v for k, v in params.items() if not k.startswith("fc")})
print(missing, unexpected)
ms.load_param_into_net(other, params)
print(np.array_equal(other.set_train(False)(x).asnumpy(), y1.asnumpy()))
groups = [
    {"params": [p for p in net.trainable_params() if "bias" not in p.name], "weight_decay": 0.01, "lr": 0.1},
    {"params": [p for p in net.trainable_params() if "bias" in p.name]},
]
opt = nn.SGD(groups, learning_rate=0.05, momentum=0.9)
print([p.name for p in opt.parameters])
net.set_train()
net.drop.set_train(False)
step = ms.value_and_grad(lambda x: ops.square(net(x)).mean(), None, opt.parameters)
for _ in range(3):
    loss, grads = step(x)
    opt(grads)
    print(f"{float(loss):.5f}")
for p in net.trainable_params():
    if p.name.startswith("conv"):
        p.requires_grad = False
print(
    [p.name for p in net.trainable_params()], len(list(net.get_parameters())), [n for n, _ in net.cells_and_names()][:4]
)
