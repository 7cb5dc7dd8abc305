"""Control flow on tensors in graphs: while, if, loops over Python ranges with conditions, bisection."""

import mindspore as ms
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)


class Newton(nn.Cell):
    def construct(self, a):
        x = a / 2
        i = Tensor(0, ms.int32)
        while ops.abs(x * x - a) > 1e-3:
            x = (x + a / x) / 2
            i = i + 1
        return x, i


print(Newton()(Tensor(2.0)), Newton()(Tensor(9.0)))


class Piece(nn.Cell):
    def construct(self, x, t):
        if x.sum() > t:
            y = x * 2
        elif x.min() < 0:
            y = ops.abs(x)
        else:
            y = x - 1
        z = y.max() if t > 0 else y.min()
        return y, z


p = Piece()
for v in ([1.0, 2.0], [-1.0, 0.5], [0.1, 0.2]):
    print(p(Tensor(v), Tensor(2.0)), p(Tensor(v), Tensor(-5.0))[1])


class Collatz(nn.Cell):
    def construct(self, n):
        steps = 0
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            steps = steps + 1
        return steps


print(Collatz()(Tensor(6, ms.int32)), Collatz()(Tensor(7, ms.int32)))


class Power(nn.Cell):
    def construct(self, x):
        for _ in range(4):
            x = x * 1.5
            if x.sum() > 10:
                x = x - 5
        return x


print(Power()(Tensor([1.0, 2.0])))


@ms.jit
def bisect(lo, hi):
    n = Tensor(0)
    while hi - lo > 0.01:
        mid = (lo + hi) / 2
        if mid * mid * mid > 5:
            hi = mid
        else:
            lo = mid
        n += 1
    return lo, n


ms.set_context(mode=ms.PYNATIVE_MODE)
print(bisect(Tensor(0.0), Tensor(3.0)))
