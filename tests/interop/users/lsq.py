"""Quantisation-aware training with a learned scale: a bprop of its own gives the scale's gradient."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

ms.set_seed(3)


class Quantise(nn.Cell):
    def __init__(self, low, high):
        super().__init__()
        self.low, self.high = low, high

    def construct(self, x, scale):
        return ops.clamp(ops.round(x / scale), self.low, self.high) * scale

    def bprop(self, x, scale, out, dout):
        ratio = x / scale
        inside = ops.logical_and(ratio >= self.low, ratio <= self.high).astype(ms.float32)
        dscale = ops.select(
            ratio < self.low,
            ops.ones_like(ratio) * self.low,
            ops.select(ratio > self.high, ops.ones_like(ratio) * self.high, ops.round(ratio) - ratio),
        )
        return dout * inside, (dout * dscale).sum().reshape(scale.shape)


class QDense(nn.Cell):
    def __init__(self, i, o):
        super().__init__()
        self.weight = Parameter(ms.common.initializer.initializer("normal", (o, i)), name="weight")
        self.scale = Parameter(Tensor([0.02], ms.float32), name="scale")
        self.q = Quantise(-8, 7)
        self.mm = ops.MatMul(transpose_b=True)

    def construct(self, x):
        return self.mm(x, self.q(self.weight, self.scale))


net = nn.SequentialCell(QDense(5, 7), nn.ReLU(), QDense(7, 2))
for i, layer in enumerate(net):
    for p in layer.get_parameters():
        p.name = f"{i}.{p.name}"
loss = nn.MSELoss()
opt = nn.SGD(net.trainable_params(), 0.1)
step = ms.value_and_grad(lambda a, b: loss(net(a), b), None, opt.parameters)
r = np.random.RandomState(0)
a, b = Tensor(r.randn(8, 5), ms.float32), Tensor(r.randn(8, 2), ms.float32)
for _ in range(4):
    value, g = step(a, b)
    opt(g)
    print(f"{float(value):.5f}", [f"{float(p.value()[0]):.5f}" for p in opt.parameters if "scale" in p.name])
