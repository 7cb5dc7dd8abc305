"""Casts: networks in float16 and bfloat16, operators without float16 kernels, mixed dtypes."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
small = Tensor(np.arange(6).reshape(2, 3).astype(np.float16))
whole = Tensor(np.arange(6, dtype=np.int32).reshape(2, 3))
truth = Tensor(np.array([True, False, True]))


class Half(nn.Cell):
    """Layers that compute in float16, and what stands between them."""

    def __init__(self):
        super().__init__()
        self.fc1 = nn.Dense(3, 4, activation="relu").to_float(ms.float16)
        self.fc2 = nn.Dense(4, 2)

    def construct(self, x):
        return self.fc2(ops.cast(self.fc1(x), ms.float32))


class Widened(nn.Cell):
    """Operators whose CPU kernels know no float16."""

    def construct(self, x):
        return ops.exp(x), x.sum(0), ops.softmax(x), ops.tanh(x) * x, x**2, ops.sqrt(ops.exp(x))


class Mixed(nn.Cell):
    """One dtype for both sides."""

    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor(np.ones((2, 3), np.float32)), name="w")

    def construct(self, x, small, whole, truth):
        return small + x, whole * x, whole + truth, small * 2, whole * 2.5, whole / 2, small - self.w, truth + 1


class Gradient(nn.Cell):
    """The gradient of a network."""

    def __init__(self, net):
        super().__init__()
        self.net = net
        self.grad = ops.GradOperation(get_by_list=True)
        self.weights = ms.ParameterTuple(net.trainable_params())

    def construct(self, *inputs):
        return self.grad(self.net, self.weights)(*inputs)


Half()(x)
Gradient(Half())(x)
Widened()(small)
Mixed()(x, small, whole, truth)
