"""Products and diagonals of ``mindspore.numpy``, each with its gradients."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore import numpy as mnp

ms.set_context(mode=ms.GRAPH_MODE)
rng = np.random.default_rng(0)
square, wide, deep = (Tensor(rng.standard_normal(shape).astype(np.float32)) for shape in ((4, 4), (3, 4), (2, 3, 4)))


class Net(nn.Cell):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def construct(self, x):
        return ops.sin(self.function(x * 1.5)).sum()


def dot1(x):
    return mnp.dot(x, x)


def dot2(x):
    return mnp.dot(x, x[0])


def dot3(x):
    return mnp.dot(x[0], x[1])


def dot4(x):
    return mnp.dot(x, x[0].T)


def inner1(x):
    return mnp.inner(x, x)


def inner2(x):
    return mnp.inner(x, x[0])


def inner3(x):
    return mnp.inner(x[0], x[1])


def outer1(x):
    return mnp.outer(x[0], x[1])


def outer2(x):
    return mnp.outer(x, x)


def diag1(x):
    return mnp.diag(x)


def diag2(x):
    return mnp.diag(x, 2)


def diag3(x):
    return mnp.diag(x, -1)


def diag4(x):
    return mnp.diag(x[0])


def diag5(x):
    return mnp.diag(x[0], 1)


def diag6(x):
    return mnp.diag(x[0], -2)


def diagonal1(x):
    return mnp.diagonal(x)


def diagonal2(x):
    return mnp.diagonal(x, 1, 1, 2)


def trace1(x):
    return mnp.trace(x)


def trace2(x):
    return mnp.trace(x, 1)


def kron1(x):
    return mnp.kron(x, x)


def kron2(x):
    return mnp.kron(x, x[0])


FORMS = (
    (dot1, square),
    (dot2, wide),
    (dot3, wide),
    (dot4, deep),
    (inner1, wide),
    (inner2, deep),
    (inner3, wide),
    (outer1, wide),
    (outer2, wide),
    (diag1, wide),
    (diag2, wide),
    (diag3, square),
    (diag4, wide),
    (diag5, wide),
    (diag6, wide),
    (diagonal1, wide),
    (diagonal2, deep),
    (trace1, square),
    (trace2, deep),
    (kron1, wide),
    (kron2, deep),
)
for form, given in FORMS:
    ops.grad(Net(form))(given)
