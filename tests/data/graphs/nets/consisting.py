"""Functions and methods made of functions that another cell called first, each in a cell of its own; in a cell that is
inferred before what runs first, too."""

# ruff: noqa: F841 - values that nothing reads are part of what it shows

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
data = Tensor(np.arange(9, dtype=np.float32).reshape(3, 3) / 8)


class First(nn.Cell):
    def construct(self, x):
        y = x
        y = y + ops.tanh(x) * 0.01
        y = y + ops.norm(x) * 0.02
        y = y + (ops.mul(x, x)) * 0.03
        y = y + (ops.not_equal(x, x * 2) * x) * 0.04
        y = y + (ops.equal(x, x * 2) * x) * 0.05
        y = y + (ops.reshape(x, (-1,)).sum()) * 0.06
        y = y + (ops.expand_dims(x, 0).sum()) * 0.07
        y = y + (ops.select(x > 0, x, x * 2)) * 0.08
        y = y + (ops.gather(x, Tensor([0]), 0).sum()) * 0.09
        y = y + ops.sign(x) * 0.10
        y = y + (ops.transpose(x, (1, 0)).sum()) * 0.11
        y = y + (ops.unstack(x, 0)[0].sum()) * 0.12
        return y


class Made0(nn.Cell):
    def construct(self, x):
        return ops.tanhshrink(x)


class Made1(nn.Cell):
    def construct(self, x):
        return ops.cosine_similarity(x, x * 2)


class Made2(nn.Cell):
    def construct(self, x):
        return x.mul(x + 1)


class Made3(nn.Cell):
    def construct(self, x):
        return (x != x * 3) * x


class Made4(nn.Cell):
    def construct(self, x):
        return (x == x * 4) * x


class Made5(nn.Cell):
    def construct(self, x):
        return ops.ravel(x)


class Made6(nn.Cell):
    def construct(self, x):
        return x.ravel() * 2


class Made7(nn.Cell):
    def construct(self, x):
        return x.norm(dim=-1)


class Made8(nn.Cell):
    def construct(self, x):
        return ops.repeat_interleave(x, 2, 0)


class Made9(nn.Cell):
    def construct(self, x):
        return x.repeat_interleave(3, 0)


class Made10(nn.Cell):
    def construct(self, x):
        return x[Tensor([1, 0])]


class Made11(nn.Cell):
    def construct(self, x):
        return x.sign()


class Made12(nn.Cell):
    def construct(self, x):
        return ops.inner(x, x + 2)


class Made13(nn.Cell):
    def construct(self, x):
        return ops.unbind(x, 0)[1]


class Made14(nn.Cell):
    def construct(self, x):
        return x.unbind(1)[0]


class Net(nn.Cell):
    def __init__(self, made):
        super().__init__()
        self.first = First()
        self.made = made

    def construct(self, x):
        return self.made(self.first(x))


class Pair(nn.Cell):
    def __init__(self, one, other):
        super().__init__()
        self.one = one
        self.other = other

    def construct(self, x):
        return self.one(x), self.other(x * 2)


for made in (
    Made0(), Made1(), Made2(), Made3(), Made4(), Made5(), Made6(), Made7(),
    Made8(), Made9(), Made10(), Made11(), Made12(), Made13(), Made14(),
):  # fmt: skip
    Net(made)(data)
for one, other in (
    (Made8(), Made9()),
    (Made9(), Made8()),
    (Made5(), Made6()),
    (Made13(), Made14()),
    (Made10(), Made10()),
):
    Pair(one, other)(data)


class Inner0(nn.Cell):
    def construct(self, x):
        return ops.logsumexp(x, 1)


class Idle0(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Inner0()

    def construct(self, x):
        v12 = x + x
        v4 = self.inner(x)
        return x + x


class Inner1(nn.Cell):
    def construct(self, x):
        return ops.logaddexp(x, x * 3)


class Idle1(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Inner1()

    def construct(self, x):
        v12 = ops.maximum(x, x * 2)
        v4 = self.inner(x)
        return ops.maximum(x, x * 2)


class Inner2(nn.Cell):
    def construct(self, x):
        return ops.logaddexp(x, x * 3)


class Idle2(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Inner2()

    def construct(self, x):
        v12 = ops.log1p(x)
        v4 = self.inner(x)
        return ops.log1p(x)


class Inner3(nn.Cell):
    def construct(self, x):
        return ops.cosine_similarity(x, x * 2)


class Idle3(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Inner3()

    def construct(self, x):
        v12 = ops.norm(x)
        v4 = self.inner(x)
        return ops.norm(x)


class Inner4(nn.Cell):
    def construct(self, x):
        return ops.repeat_interleave(x, 2, 0)


class Idle4(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Inner4()

    def construct(self, x):
        v12 = ops.expand_dims(x, 0)
        v4 = self.inner(x)
        return ops.expand_dims(x, 0)


class Inner5(nn.Cell):
    def construct(self, x):
        return x.repeat_interleave(2, 0)


class Idle5(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Inner5()

    def construct(self, x):
        v12 = ops.expand_dims(x, 0)
        v4 = self.inner(x)
        return ops.expand_dims(x, 0)


class Inner6(nn.Cell):
    def construct(self, x):
        return ops.tanhshrink(x)


class Idle6(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Inner6()

    def construct(self, x):
        v12 = ops.tanh(x)
        v4 = self.inner(x)
        return ops.tanh(x)


class Inner7(nn.Cell):
    def construct(self, x):
        return ops.var(x, 1)


class Idle7(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Inner7()

    def construct(self, x):
        v12 = ops.div(x, x + 1)
        v4 = self.inner(x)
        return ops.div(x, x + 1)


class Inner8(nn.Cell):
    def construct(self, x):
        return x.var(1)


class Idle8(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Inner8()

    def construct(self, x):
        v12 = ops.sub(x, x * 2)
        v4 = self.inner(x)
        return ops.sub(x, x * 2)


for net in (Idle0(), Idle1(), Idle2(), Idle3(), Idle4(), Idle5(), Idle6(), Idle7(), Idle8()):
    net(data)
