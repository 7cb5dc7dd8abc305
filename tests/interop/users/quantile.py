"""Quantile regression with a loss of one's own, and an optimizer of one's own."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore.nn import Optimizer
from mindspore.train import EarlyStopping, History, Model

ms.set_seed(77)


class Pinball(nn.LossBase):
    def __init__(self, q):
        super().__init__("mean")
        self.q = Tensor(q, ms.float32)

    def construct(self, out, y):
        e = y - out
        return self.get_loss(ops.maximum(self.q * e, (self.q - 1) * e))


class SignSGD(Optimizer):
    def __init__(self, params, lr):
        super().__init__(lr, params)
        self.m = self.parameters.clone(prefix="m", init="zeros")
        self.map = ops.Map()

    def construct(self, grads):
        lr = self.get_lr()
        for i in range(len(self.parameters)):
            m = 0.9 * self.m[i] + 0.1 * grads[i]
            ops.assign(self.m[i], m)
            ops.assign_sub(self.parameters[i], lr * ops.sign(m))
        return True


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.SequentialCell()
        for i, (a, b) in enumerate([(2, 6), (6, 3)]):
            self.layers.append(nn.Dense(a, b))
            if i == 0:
                self.layers.append(nn.ELU())

    def construct(self, x):
        return self.layers(x)


rng = np.random.RandomState(0)
x = rng.rand(8, 2).astype(np.float32)
y = (x.sum(1, keepdims=True) + rng.randn(8, 1) * 0.1).astype(np.float32)
data = ds.NumpySlicesDataset((x, y), ["x", "y"], shuffle=False).batch(4)
net = Net()
loss = Pinball([0.1, 0.5, 0.9])
model = Model(net, loss, SignSGD(net.trainable_params(), 0.01), metrics={"loss": nn.Loss()})
history = History()
model.fit(
    2,
    data,
    data,
    callbacks=[history, EarlyStopping(monitor="eval_loss", patience=1)] if False else [history],
    dataset_sink_mode=False,
)
print(
    {k: [round(float(np.asarray(v)), 4) for v in vs] for k, vs in history.epoch.items()}
    if isinstance(history.epoch, dict)
    else sorted(history.epoch)
)
