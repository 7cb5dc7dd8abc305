"""Mixed precision by hand: cells to_float(float16), a scaler in the step, skipped steps on overflow."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

ms.set_seed(71)
np.random.seed(71)


class Block(nn.Cell):
    def __init__(self, c):
        super().__init__()
        self.conv = nn.Conv2d(c, c, 3, weight_init="he_normal").to_float(ms.float16)
        self.bn = nn.BatchNorm2d(c)
        self.relu = nn.ReLU()

    def construct(self, x):
        return x + self.relu(self.bn(ops.cast(self.conv(x), ms.float32)))


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, 4, 3, pad_mode="same")
        self.blocks = nn.CellList([Block(4) for _ in range(2)])
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Dense(4, 3).to_float(ms.float16)

    def construct(self, x):
        x = self.stem(x)
        for b in self.blocks:
            x = b(x)
        return ops.cast(self.fc(self.pool(x).flatten(start_dim=1)), ms.float32)


class Step(nn.Cell):
    def __init__(self, net, opt, scale=256.0):
        super().__init__(auto_prefix=False)
        self.net, self.opt = net, opt
        self.net.set_grad()
        self.ce = nn.CrossEntropyLoss()
        self.scale = Parameter(Tensor(scale, ms.float32), name="scale", requires_grad=False)
        self.skipped = Parameter(Tensor(0, ms.int32), name="skipped", requires_grad=False)
        self.grad = ms.value_and_grad(self.forward, None, opt.parameters)

    def forward(self, x, y):
        return self.ce(self.net(x), y) * self.scale

    def construct(self, x, y):
        loss, grads = self.grad(x, y)
        flags = []
        for g in grads:
            flags.append(ops.isfinite(g).all())
        ok = ops.stack(flags).all()
        inv = 1.0 / self.scale
        if ok:
            out = ()
            for g in grads:
                out = (*out, g * inv)
            self.opt(out)
        else:
            self.skipped += 1
            self.scale = self.scale / 2.0
        return loss * inv, ok


net = Net()
net.set_train()
step = Step(net, nn.Momentum(net.trainable_params(), 0.05, 0.9))
x = Tensor(np.random.randn(4, 1, 6, 6), ms.float32)
y = Tensor([0, 1, 2, 1], ms.int32)
for i in range(2):
    loss, ok = step(x, y)
    print(i, f"{float(loss):.4f}", bool(ok), float(step.scale), int(step.skipped))
