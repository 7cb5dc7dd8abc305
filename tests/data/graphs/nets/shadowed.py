"""Indexing of several kinds in cells beside and inside each other: a function for each kind of index; where the module
has a value under the name that is indexed, one function around all kinds; None and a list among them."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
known = Tensor(np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 8)


class Row(nn.Cell):
    def construct(self, x):
        return ops.exp(x[0])


class Column(nn.Cell):
    def construct(self, x):
        return x[:, 0]


class Slice(nn.Cell):
    def construct(self, x):
        return x[0:1]


class Rows(nn.Cell):
    def construct(self, x):
        return x[Tensor([1, 0])]


class Listed(nn.Cell):
    def construct(self, x):
        return x[[0, 1]]


class New(nn.Cell):
    def construct(self, x):
        return ops.cos(x[None])


class Wider(nn.Cell):
    def construct(self, x):
        return ops.expand_dims(x, 0)[True]


class KnownRow(nn.Cell):
    def construct(self, known):
        return ops.exp(known[0])


class KnownColumn(nn.Cell):
    def construct(self, known):
        return known[:, 0]


class Computed(nn.Cell):
    def construct(self, known):
        return (known * 2)[0:1]


class Pair(nn.Cell):
    def __init__(self, first, second):
        super().__init__()
        self.first = first
        self.second = second

    def construct(self, x):
        return self.first(x), self.second(x * 2)


class Chain(nn.Cell):
    def __init__(self, first, second):
        super().__init__()
        self.first = first
        self.second = second

    def construct(self, x):
        _ = x[..., 0]
        return self.second(self.first(x))[0]


class Around(nn.Cell):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner
        self.dense = nn.Dense(4, 2, weight_init="ones")

    def construct(self, x):
        return self.inner(self.dense(x)[0:1])


for first, second in (
    (Row(), Column()), (Column(), Row()), (KnownRow(), KnownColumn()), (KnownColumn(), KnownRow()),
    (Row(), KnownColumn()), (KnownRow(), Column()), (Slice(), Rows()), (Rows(), Listed()), (New(), Wider()),
    (Wider(), New()), (KnownRow(), Computed()),
):  # fmt: skip
    Pair(first, second)(known)
for first, second in ((Slice(), Column()), (Slice(), KnownColumn()), (KnownColumn(), Rows()), (New(), Wider())):
    Chain(first, second)(known)


def trained(net):
    def total(x):
        return net(x).sum()

    ms.value_and_grad(total, None, net.trainable_params())(known)


for inner in (Row(), Column(), KnownRow(), KnownColumn(), Slice()):
    trained(Around(inner))
