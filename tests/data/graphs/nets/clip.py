"""Tensors brought within bounds, one by one and by the norm of all; in a training step too."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.linspace(-2, 2, 6, dtype=np.float32).reshape(2, 3))
y = Tensor(np.linspace(-1, 3, 3, dtype=np.float32))
half = Tensor(np.linspace(-1, 3, 3).astype(np.float16))


def run(function, *inputs):
    class Net(nn.Cell):
        def construct(self, *inputs):
            return function(*inputs)

    return Net()(*inputs)


def by_norm(x, y):
    return ops.clip_by_global_norm((x, y))


def by_another_norm(x, y):
    return ops.clip_by_global_norm((x, y), 10.0, None)


def by_value(x, y):
    return ops.clip_by_value((x, y), -1.0, 1.0)


for function in (by_norm, by_another_norm, by_value):
    run(function, x, y)
run(by_norm, x, half)


class Step(nn.TrainOneStepCell):
    def construct(self, *inputs):
        loss = self.network(*inputs)
        grads = self.grad(self.network, self.weights)(*inputs, ops.fill(loss.dtype, loss.shape, self.sens))
        grads = ops.clip_by_global_norm(grads, 0.1)
        return ops.depend(loss, self.optimizer(grads))


net = nn.SequentialCell(nn.Dense(3, 4, weight_init="ones"), nn.Tanh(), nn.Dense(4, 2, weight_init="ones"))
step = Step(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1))
step(x, Tensor(np.ones((2, 2), np.float32)))
