"""Groups with their own rates and decay, a piecewise schedule, frozen layers, learning rates read back."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_seed(31)
net = nn.SequentialCell(
    nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.AdaptiveAvgPool2d((1, 1)), nn.Flatten(), nn.Dense(2, 3)
)
net[0].weight.requires_grad = False
decay = [p for p in net.trainable_params() if "weight" in p.name]
rest = [p for p in net.trainable_params() if "weight" not in p.name]
lr = nn.piecewise_constant_lr([2, 4], [0.1, 0.01])
groups = [{"params": decay, "weight_decay": 0.01, "lr": lr}, {"params": rest}, {"order_params": net.trainable_params()}]
opt = nn.Momentum(groups, learning_rate=nn.CosineDecayLR(0.01, 0.1, 4), momentum=0.9)
step = ms.value_and_grad(lambda x, y: ops.nll_loss(ops.log_softmax(net(x), 1), y), None, opt.parameters)
net.set_train()
r = np.random.RandomState(0)
x, y = Tensor(r.rand(4, 1, 5, 5), ms.float32), Tensor(r.randint(0, 3, 4), ms.int32)
for _ in range(4):
    value, g = step(x, y)
    print(f"{float(value):.5f}", len(g))
    opt(g)
print([p.name for p in opt.parameters])
print(net[1].moving_mean.asnumpy().round(5).tolist())
