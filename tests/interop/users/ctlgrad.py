"""Gradients through if and while on tensors in graph mode."""

import mindspore as ms
from mindspore import Tensor, nn

ms.set_context(mode=ms.GRAPH_MODE)


class If(nn.Cell):
    def construct(self, x):
        if x.sum() > 0:
            y = x * x
        else:
            y = x * 3
        return y.sum()


print(ms.grad(If())(Tensor([1.0, 2.0])), ms.grad(If())(Tensor([-1.0, 0.5])))


class While(nn.Cell):
    def construct(self, x):
        y = x
        while y.sum() < 20:
            y = y * 2
        return y.sum()


print(ms.grad(While())(Tensor([1.0, 2.0])))
