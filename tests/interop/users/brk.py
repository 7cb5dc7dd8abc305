"""break and continue under a tensor's condition in graph mode."""

import mindspore as ms
from mindspore import Tensor, nn

ms.set_context(mode=ms.GRAPH_MODE)


class Break(nn.Cell):
    def construct(self, x):
        i = Tensor(0)
        while i < 10:
            x = x * 2
            i = i + 1
            if x > 100:
                break
        return x, i


print(Break()(Tensor(3.0)), Break()(Tensor(0.01)))


class Continue(nn.Cell):
    def construct(self, n):
        total = Tensor(0)
        i = Tensor(0)
        while i < n:
            i = i + 1
            if i % 2 == 0:
                continue
            total = total + i
        return total


print(Continue()(Tensor(7)))


class ForBreak(nn.Cell):
    def construct(self, x):
        for k in range(5):
            x = x + k
            if x > 4:
                break
        return x


print(ForBreak()(Tensor(1.0)), ForBreak()(Tensor(-20.0)))
