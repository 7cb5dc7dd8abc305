import itertools

import mindspore as ms
import mindspore.numpy as np
import numpy as onp
from mindspore import jit

onp.random.seed(2)
ms.set_seed(2)


def init(sizes):
    rng = onp.random.RandomState(0)
    return [
        (ms.Tensor(rng.randn(i, o).astype("float32") / float(onp.sqrt(i))), np.zeros((o,), dtype=np.float32))
        for i, o in itertools.pairwise(sizes)
    ]


def predict(params, x):
    for w, b in params[:-1]:
        x = np.tanh(np.dot(x, w) + b)
    w, b = params[-1]
    return np.dot(x, w) + b


def loss(w1, b1, w2, b2, x, y):
    p = predict(((w1, b1), (w2, b2)), x)
    return np.mean(np.square(p - y)) + 1e-3 * (np.sum(w1**2) + np.sum(w2**2))


gfun = ms.value_and_grad(loss, grad_position=(0, 1, 2, 3))


@jit
def update(w1, b1, w2, b2, x, y, lr):
    now, g = gfun(w1, b1, w2, b2, x, y)
    return now, w1 - lr * g[0], b1 - lr * g[1], w2 - lr * g[2], b2 - lr * g[3]


x = np.linspace(-1, 1, 16).reshape(16, 1)
y = np.sin(3 * x)
(w1, b1), (w2, b2) = init([1, 8, 1])
for i in range(4):
    now, w1, b1, w2, b2 = update(w1, b1, w2, b2, x, y, 0.1)
    print(f"iter {i} loss {now.asnumpy():.5f}")


@jit
def stats(a):
    c = a - np.mean(a, axis=0)
    cov = np.matmul(c.T, c) / (a.shape[0] - 1)
    d = np.sqrt(np.diag(cov))
    return cov / np.outer(d, d)


a = ms.Tensor(onp.random.randn(10, 3).astype("float32"))
print(stats(a).shape)
print(np.where(a[:2] > 0, a[:2], np.zeros_like(a[:2])))
print(np.concatenate((np.arange(3), np.ones(2, np.int32))), np.clip(a[0], -0.5, 0.5))
