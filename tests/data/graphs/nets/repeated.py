"""A network that is called, and differentiated with the same arguments, in one graph: it runs once."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor((np.arange(16).reshape(2, 1, 2, 4) ** 2).astype(np.float32))
y = Tensor(np.ones((2, 1), np.float32))


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = nn.BatchNorm2d(1, momentum=0.5)
        self.second = nn.BatchNorm2d(1, momentum=0.5)
        self.dense = nn.Dense(1, 1, weight_init="ones")

    def construct(self, x, y):
        return (self.dense(self.second(self.first(x)).mean((2, 3))) - y).sum()


class Step(nn.Cell):
    def __init__(self, net, how):
        super().__init__()
        self.net, self.how = net, how
        self.optimizer = nn.SGD(net.trainable_params(), 0.1)
        self.weights = self.optimizer.parameters
        self.grad = ops.GradOperation(get_by_list=True)
        self.grad_all = ops.GradOperation(get_all=True, get_by_list=True)
        self.both = ms.value_and_grad(net, None, self.weights)

    def construct(self, x, y):
        loss = self.net(x, y)
        if self.how == "once":
            grads = self.grad(self.net, self.weights)(x, y)
        elif self.how == "both":
            again, grads = self.both(x, y)
            loss = loss + again
        elif self.how == "all":
            _, grads = self.grad_all(self.net, self.weights)(x, y)
        return ops.depend(loss, self.optimizer(grads))


for how in ("once", "both", "all"):
    Step(Net(), how).set_train()(x, y)
