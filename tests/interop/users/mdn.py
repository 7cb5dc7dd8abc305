"""Mixture density network: mixture weights, means and scales from one trunk; negative log likelihood."""

import math

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)


class MDN(nn.Cell):
    def __init__(self, hidden=6, k=3):
        super().__init__()
        self.trunk = nn.SequentialCell(nn.Dense(1, hidden), nn.Tanh())
        self.pi = nn.Dense(hidden, k)
        self.mu = nn.Dense(hidden, k)
        self.log_sigma = nn.Dense(hidden, k)

    def construct(self, x):
        h = self.trunk(x)
        return self.pi(h), self.mu(h), self.log_sigma(h)


class NLL(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def construct(self, x, y):
        pi, mu, log_sigma = self.net(x)
        log_pi = ops.log_softmax(pi, -1)
        z = (y - mu) / ops.exp(log_sigma)
        log_prob = -0.5 * z * z - log_sigma - 0.5 * math.log(2 * math.pi)
        return -ops.logsumexp(log_pi + log_prob, -1).mean()


rng = np.random.RandomState(3)
net = MDN()
for p in net.trainable_params():
    p.set_data(Tensor(rng.randn(*p.shape) * 0.3, ms.float32))
x = rng.uniform(-1, 1, (12, 1))
y = np.sin(3 * x) + 0.1 * rng.randn(12, 1)
step = nn.TrainOneStepCell(NLL(net), nn.RMSProp(net.trainable_params(), 0.02))
step.set_train()
for i in range(4):
    print(i, step(Tensor(x, ms.float32), Tensor(y, ms.float32)))
pi, mu, _ = net(Tensor(x[:2], ms.float32))
print(ops.softmax(pi, -1).asnumpy().round(3), mu.asnumpy().round(3))
