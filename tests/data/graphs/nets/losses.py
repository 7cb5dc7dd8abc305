"""Functions of losses and of the larger of two: their operators, and those of their gradients."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3) / 7 + 0.1)
y = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3)[::-1].copy() / 5 + 0.1)


class Losses(nn.Cell):
    def construct(self, x, y):
        huber = ops.huber_loss(x, y), ops.huber_loss(x, y * 2, "sum", 2.0), ops.huber_loss(x, y * 3, "none", 0.5)
        divergence = ops.kl_div(x, y), ops.kl_div(x, y * 2, "batchmean"), ops.kl_div(x, y * 3, "none")
        return huber, divergence, ops.softmin(x), ops.softmin(y, 0), ops.fmax(x, y), ops.xlogy(x, y), ops.logit(x)


class Loss(nn.Cell):
    def construct(self, x, y):
        return (
            ops.huber_loss(x, y, delta=2.0) + ops.kl_div(x, y) + (ops.softmin(x) * y).sum() + ops.fmax(x, y * 2).sum()
        )


Losses()(x, y)
ops.grad(Loss())(x, y)
