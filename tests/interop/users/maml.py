"""First-order meta learning: fast weights as a list, inner gradient steps, outer step by Adam."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, ParameterTuple, Tensor, nn, ops

ms.set_context(mode=ms.PYNATIVE_MODE)
ms.set_seed(6)
r = np.random.RandomState(4)
w1, b1 = (
    Parameter(Tensor(r.randn(8, 1) * 0.5, ms.float32), name="w1"),
    Parameter(Tensor(np.zeros(8), ms.float32), name="b1"),
)
w2, b2 = (
    Parameter(Tensor(r.randn(1, 8) * 0.5, ms.float32), name="w2"),
    Parameter(Tensor(np.zeros(1), ms.float32), name="b2"),
)
params = ParameterTuple((w1, b1, w2, b2))
opt = nn.Adam(params, 0.01)


def model(x, w1, b1, w2, b2):
    h = ops.tanh(ops.matmul(x, w1.T) + b1)
    return ops.matmul(h, w2.T) + b2


def loss(w1, b1, w2, b2, x, y):
    return ops.mse_loss(model(x, w1, b1, w2, b2), y)


grad = ms.grad(loss, (0, 1, 2, 3))
for _it in range(3):
    total = None
    value = 0.0
    for _task in range(2):
        phase = r.rand() * 3
        x = r.randn(6, 1).astype(np.float32)
        y = np.sin(x + phase)
        xs, ys, xq, yq = map(Tensor, (x[:3], y[:3].astype(np.float32), x[3:], y[3:].astype(np.float32)))
        fast = [Tensor(p.asnumpy()) for p in params]
        for _ in range(2):
            fast = [p - 0.1 * g for p, g in zip(fast, grad(*fast, xs, ys), strict=False)]
        outer = grad(*fast, xq, yq)
        value += float(loss(*fast, xq, yq))
        total = outer if total is None else tuple(a + b for a, b in zip(total, outer, strict=False))
    opt(total)
    print(f"{value:.4f}")
