"""Where the contributions to an argument, and to a weight that several cells read, are summed."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, ParameterTuple, Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4))


class Inner(nn.Cell):
    def __init__(self):
        super().__init__()
        self.v = Parameter(Tensor(np.ones((3, 4), np.float32)), name="v")

    def construct(self, x):
        return ops.tanh(x * self.v) * ops.sin(self.v)


class Named(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def construct(self, x):
        return self.inner(x) * self.inner(x * 2) + ops.exp(x)


class Starred(Named):
    def construct(self, *inputs):
        return inputs[0] * ops.exp(inputs[0])


class Step(nn.Cell):
    def __init__(self, net, grad):
        super().__init__()
        self.net = net
        self.weights = ParameterTuple(net.trainable_params())
        self.grad = grad


class Arguments(Step):
    def construct(self, x):
        return self.grad(self.net)(x)


class OfAnExpression(Step):
    def construct(self, x):
        return self.grad(self.net)(x * 2)


class All(Step):
    def construct(self, *inputs):
        return self.grad(self.net)(*inputs)


class Weights(Step):
    def construct(self, x):
        return self.grad(self.net, self.weights)(x)


class Both(Step):
    def construct(self, x):
        return ops.value_and_grad(self.net, 0, self.weights)(x)


class CalledBefore(Step):
    def construct(self, x):
        return self.net(x * 3), self.grad(self.net, self.weights)(x)


class CalledBeforeByValue(Step):
    def construct(self, x):
        return self.net(x), ops.value_and_grad(self.net, None, self.weights)(x)


class PartCalledBefore(Step):
    def construct(self, x):
        return self.net.inner(x), self.grad(self.net, self.weights)(x)


class ReadBefore(Step):
    def construct(self, x):
        return self.net.inner.v * 2, self.grad(self.net, self.weights)(x)


class Twice(Step):
    def construct(self, x):
        return self.grad(self.net, self.weights)(x), self.grad(self.net, self.weights)(ops.cos(x))


for kind in (Arguments, OfAnExpression, All):
    for net in (Named, Starred):
        kind(net(), ops.GradOperation())(x)
for kind in (Weights, Both, CalledBefore, CalledBeforeByValue, PartCalledBefore, ReadBefore, Twice):
    kind(Named(), ops.GradOperation(get_by_list=True))(x)
