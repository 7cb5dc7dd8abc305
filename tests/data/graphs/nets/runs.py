"""A gradient of a function that calls a net and takes its gradient: forward runs, and where sums of weights stand."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, mint, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.linspace(-1, 1, 20, dtype=np.float32).reshape(5, 4))
images = Tensor(np.linspace(-1, 1, 32, dtype=np.float32).reshape(1, 2, 4, 4))


class Product(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor(np.ones((4, 4), np.float32)), name="w")
        self.product = ops.MatMul()
        self.used = True


class Direct(Product):
    def construct(self, x):
        return self.product(x, self.w)


class AfterAttribute(Product):
    def construct(self, x):
        if self.used:
            x = x + 1
        return self.product(x, self.w)


class AfterShape(Product):
    def construct(self, x):
        if len(x.shape) == 2:
            x = x + 1
        return self.product(x, self.w)


class AfterRaise(Product):
    def construct(self, x):
        if len(x.shape) != 2:
            raise ValueError("two axes")
        return self.product(x, self.w)


class InMethod(Product):
    def multiply(self, x):
        return self.product(x, self.w)

    def construct(self, x):
        return self.multiply(x)


class InFunction(Product):
    def construct(self, x):
        return ops.matmul(x, self.w)


class Net(nn.Cell):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def construct(self, x):
        return ops.tanh(self.layer(ops.sin(x)))


class Slope(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def construct(self, x):
        return (ms.grad(self.net)(x) ** 2).sum()


class CallAndSlope(Slope):
    def construct(self, x):
        value = self.net(x).sum()
        return value + (ms.grad(self.net)(x) ** 2).sum()


class CallAndSlopeElsewhere(Slope):
    def construct(self, x):
        value = self.net(x).sum()
        return value + (ms.grad(self.net)(2 * x) ** 2).sum()


class CallsAndSlope(Slope):
    def construct(self, x):
        value = self.net(x).sum() * self.net(x).sum()
        return value + (ms.grad(self.net)(x) ** 2).sum()


class Slopes(Slope):
    def construct(self, x):
        return (ms.grad(self.net)(x) * ms.grad(self.net)(2 * x)).sum()


class ValueAndSlope(Slope):
    def construct(self, x):
        value, slope = ms.value_and_grad(self.net)(x)
        return value.sum() + (slope**2).sum()


def train(loss, x):
    step = nn.TrainOneStepCell(loss, nn.SGD(loss.trainable_params(), 0.1))
    step.set_train(False)
    step(x)


for layer in (Direct(), AfterAttribute(), AfterShape(), AfterRaise(), InMethod(), InFunction()):
    train(Slope(Net(layer)), x)
train(Slope(Net(nn.Dense(4, 3, has_bias=False))), x)
train(Slope(Net(mint.nn.Linear(4, 3, bias=False))), x)
train(Slope(Net(nn.Conv2d(2, 3, 3))), images)
for loss in (CallAndSlope, CallAndSlopeElsewhere, CallsAndSlope, Slopes, ValueAndSlope):
    train(loss(Net(nn.Dense(4, 3, has_bias=False))), x)


class Activated(Net):
    def __init__(self, layer, function):
        super().__init__(layer)
        self.function = function
        self.last = ops.MatMul()

    def construct(self, x):
        return self.last(self.function(self.layer(x)), x)


train(Slope(Activated(nn.Dense(4, 5, has_bias=False), ops.relu)), x)
train(CallAndSlope(Activated(nn.Dense(4, 5, has_bias=False), ops.relu)), x)
train(Slope(Activated(nn.Dense(4, 5, has_bias=False), ops.softplus)), x)
