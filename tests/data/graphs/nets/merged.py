"""Reshapes behind each other in several cells; functions whose operator has a scope only once it is in place."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)


class Wide(nn.Cell):
    def construct(self, x):
        return x.reshape((6, 6))


class Long(nn.Cell):
    def construct(self, x):
        return x.reshape((3, 12))


class Chained(nn.Cell):
    """A chain of three, of which one changes nothing, used twice."""

    def __init__(self):
        super().__init__()
        self.wide, self.long, self.dense = Wide(), Long(), nn.Dense(12, 12)

    def construct(self, x):
        x = self.dense(x)
        y = ops.exp(x).reshape((2, 18))
        return ops.exp(self.wide(y)) + ops.exp(self.long(self.wide(y))).sum()


class Squeezed(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 3)

    def construct(self, x):
        x = self.dense(x)
        x = ops.squeeze(ops.exp(ops.expand_dims(x, 0)), 0)
        return ops.squeeze(ops.exp(ops.expand_dims(x, 1)), 1)


class Summed(nn.Cell):
    """A sum that nothing uses, by a bool."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 3)

    def construct(self, x):
        y = x.sum(-1, True)  # noqa: F841
        return self.dense(x @ x)


class Older(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 3)

    def construct(self, x):
        x = self.dense(x)
        x = ops.logaddexp(x - x.max(axis=-1, keepdims=True), x)
        return x + x.sum(axis=-1, keepdims=True)


class Similar(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 3)

    def construct(self, x):
        x = self.dense(x)
        return x * ops.cosine_similarity(x, x).reshape((3, 1))


def trained(net, loss, shape, label):
    x = Tensor(np.linspace(-1, 2, int(np.prod(shape))).reshape(shape).astype(np.float32))
    optimizer = nn.SGD(net.trainable_params(), learning_rate=0.1)
    nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer).set_train()(x, Tensor(label))


classes = np.array([0, 2, 1], np.int32)
trained(Chained(), nn.MSELoss(), (3, 12), np.ones((6, 6), np.float32))
trained(Squeezed(), nn.CrossEntropyLoss(), (3, 3), classes)
trained(Squeezed(), nn.MSELoss(), (3, 3), np.ones((3, 3), np.float32))
trained(Summed(), nn.CrossEntropyLoss(), (3, 3), classes)
trained(Older(), nn.CrossEntropyLoss(), (3, 3), classes)
trained(Similar(), nn.CrossEntropyLoss(), (3, 3), classes)
