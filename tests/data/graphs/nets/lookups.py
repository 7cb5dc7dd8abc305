"""In which order functions are looked up, and so whose scope they stand in."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))


class Leaf(nn.Cell):
    """Names one function of the library and one operator of Python."""

    def construct(self, x):
        return ops.softmax(x) + 1


class After(nn.Cell):
    """Names the same function."""

    def construct(self, x):
        return ops.softmax(x)


class Holder(nn.Cell):
    """Cells for the networks below."""

    def __init__(self):
        super().__init__()
        self.leaf = Leaf()
        self.more = nn.CellList([Leaf(), After()])
        self.flag = True


class Deeper(Holder):
    """The cell that runs first is entered first."""

    def construct(self, x):
        return self.more[1](self.leaf(x))


class Around(Holder):
    """The name of a call comes before its arguments."""

    def construct(self, x):
        y = self.leaf(x)
        return ops.softmax(y)


class Beside(Holder):
    """What stands before it in the result comes first."""

    def construct(self, x):
        y = self.leaf(x)
        z = ops.softmax(x)
        return y, z


class Choice(Holder):
    """A side of an if belongs to what is around it."""

    def construct(self, x):
        y = self.leaf(x)
        if x.shape[0] > 1:
            y = ops.softmax(y)
        return y


class AfterChoice(Holder):
    """What follows an if does not."""

    def construct(self, x):
        y = self.leaf(x)
        if x.shape[0] > 1:
            y = y * 2
        return ops.softmax(y)


class AfterAttribute(Holder):
    """Unless an attribute decides it."""

    def construct(self, x):
        y = self.leaf(x)
        if self.flag:
            y = y * 2
        return ops.softmax(y)


class Turns(Holder):
    """The turns of a loop are graphs of their own."""

    def construct(self, x):
        y = self.leaf(x)
        for i in range(2):
            y = ops.softmax(y) * i
        return y


class InTurn(Holder):
    """Within a turn the same rule holds."""

    def construct(self, x):
        y = x
        for cell in self.more:
            y = ops.softmax(cell(y))
        return y


class Listed(Holder):
    """A list made by a loop."""

    def construct(self, x):
        y = [cell(x) for cell in self.more]
        return ops.softmax(y[0]) + y[1]


class Wrapped(nn.Cell):
    """Gives the network a scope."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def construct(self, x):
        return self.net(x)


class Methods(nn.Cell):
    """Methods that stand where they are called, and methods that are one function."""

    def construct(self, x):
        return x.eq(x), x.less(x), x.log1p(), abs(x), x.triu(), x.T, x.expand_dims(0)


class TwoMethods(nn.Cell):
    """The same methods from two cells."""

    def __init__(self):
        super().__init__()
        self.a = Methods()
        self.b = Methods()

    def construct(self, x):
        return self.a(x), self.b(x + 1)


class FirstInDefault(nn.Cell):
    """A function of one operator that is first called in Default takes the scope of each call."""

    def __init__(self):
        super().__init__()
        self.a = Leaf()
        self.act = nn.GELU(approximate=False)

    def construct(self, x):
        y = x + x
        return self.act(self.a(ops.softmax(y))) + (1 + y)


for net in (Deeper, Around, Beside, Choice, AfterChoice, AfterAttribute, Turns, InTurn, Listed):
    Wrapped(net())(x)
TwoMethods()(x)
FirstInDefault()(x)
Wrapped(FirstInDefault())(x)
