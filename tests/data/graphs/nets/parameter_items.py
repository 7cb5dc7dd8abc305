"""Elements of a parameter that are assigned to, by another name of it too: which of them the parameter keeps."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn

ms.set_context(mode=ms.GRAPH_MODE)


class Held(nn.Cell):
    """Has the parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.p = Parameter(Tensor(np.arange(6).reshape(3, 2).astype(np.float32)), name="p")


class ByName(Held):
    """One element, then a sum."""

    def construct(self, x, n):
        other = self.p
        other[n] = x
        other[0, 1] = x
        return other + self.p


class ByAttribute(Held):
    """Elements in two steps."""

    def construct(self, x, n):
        self.p[n] = x
        self.p[1][0] = 7.0
        return self.p + x


class BySlice(Held):
    """What the parameter does not keep."""

    def construct(self, x, n):
        self.p[1:3] = x
        other = self.p * 2
        other[0:1] = n
        other[n] = x
        other[::2] = x
        return other


for kind in (ByName, ByAttribute, BySlice):
    kind()(Tensor(5.0), Tensor(1))
