"""Domain adaptation: gradient reversal by a bprop of its own, two heads."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(5)


class Reverse(nn.Cell):
    def construct(self, x):
        return x * 1.0

    def bprop(self, x, out, dout):
        return (-0.5 * dout,)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.body = nn.SequentialCell([nn.Dense(6, 8), nn.Tanh()])
        self.label, self.domain, self.reverse = nn.Dense(8, 3), nn.Dense(8, 2), Reverse()

    def construct(self, x):
        features = self.body(x)
        return self.label(features), self.domain(self.reverse(features))


net, loss_fn = Net(), nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)


def forward(x, label, domain):
    a, b = net(x)
    return loss_fn(a, label) + loss_fn(b, domain)


gradient = ms.value_and_grad(forward, None, optimizer.parameters)
random = np.random.RandomState(1)
x = Tensor(random.randn(6, 6).astype(np.float32))
label, domain = Tensor(np.arange(6) % 3, ms.int32), Tensor(np.arange(6) % 2, ms.int32)
for _ in range(4):
    loss, grads = gradient(x, label, domain)
    optimizer(grads)
    print(f"loss {float(loss.asnumpy()):.5f}", f"norm {float(ops.norm(grads[0]).asnumpy()):.4f}")
