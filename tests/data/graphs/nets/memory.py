"""Parameters changed in place, read before and after, handed on and given back; tensors made to be changed."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3) + 1)


class Parameters(nn.Cell):
    """A cell with three parameters."""

    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor(np.ones((2, 3), np.float32)), name="w")
        self.v = Parameter(Tensor(np.ones((2, 3), np.float32)), name="v")
        self.u = Parameter(Tensor(np.ones((2, 3), np.float32)), name="u")


class AddNumber(Parameters):
    def construct(self, x):
        self.w += 1
        return x * self.w


class Local(Parameters):
    def construct(self, x):
        w = self.w
        w += x
        return w * w


class ReadAround(Parameters):
    def construct(self, x):
        a = self.w * x
        self.w *= 0.5
        return a * self.w


class Replaced(Parameters):
    def construct(self, x):
        self.w = self.w * 0.5 + x
        return x + self.w


class GivenBack(Parameters):
    def construct(self, x):
        return x * 2, self.w


class GivenBackLater(Parameters):
    def construct(self, x):
        y = x * self.w
        ops.assign(self.w, x)
        return y, self.w


class Joined(Parameters):
    def construct(self, x):
        y = ops.concat((self.w, x))
        ops.assign(self.w, x)
        return y * 2


class Expanded(Parameters):
    def construct(self, x):
        y = ops.expand_dims(self.w, 0)
        z = ops.exp(y) + y
        ops.assign(self.w, x)
        return z


class ReadAfter(Parameters):
    def construct(self, x):
        ops.assign(self.w, x * 2)
        return self.w + x


class Twice(Parameters):
    def construct(self, x):
        ops.assign(self.w, x * self.w)
        ops.assign(self.w, x - self.w)
        return x


class View(Parameters):
    def construct(self, x):
        y = ops.relu(self.w)
        z = y.reshape((3, 2))
        ops.assign_add(self.w, x)
        return z.sum() + y.sum()


class Squared(Parameters):
    def construct(self, x):
        y = self.w * self.w
        ops.assign(self.v, x)
        z = self.w * self.v
        ops.assign(self.w, x)
        return y + z


class Several(Parameters):
    def construct(self, x):
        a = ops.exp(self.w) * self.v
        self.v += a
        b = ops.exp(self.w) * self.v
        self.w += self.v
        c = ops.exp(self.w) + self.v
        return a + b + c


class Row(Parameters):
    def construct(self, x):
        ops.assign(self.v, x)
        return self.v * self.w


class RowEndsWritten(Parameters):
    def construct(self, x):
        ops.assign(self.v, x)
        return ops.exp(self.w) * self.v


class RowUnwritten(Parameters):
    def construct(self, x):
        ops.assign(self.v, x)
        return ops.exp(self.w) * self.u


class RowWrittenLater(Parameters):
    def construct(self, x):
        ops.assign(self.v, x)
        z = ops.exp(self.w) * self.u
        ops.assign(self.w, x)
        return z


class LongRow(Parameters):
    def construct(self, x):
        ops.assign(self.v, x)
        return ops.exp(self.w) * self.v + self.u


class RowWithValue(Parameters):
    def construct(self, x):
        z = x * 2
        z += 1
        return ops.exp(self.w) * z + self.u


class Reshaped(Parameters):
    def construct(self, x):
        y = self.w.reshape((3, 2))
        z = ops.exp(y) + y
        ops.assign(self.w, x)
        return z


class Handed(Parameters):
    def construct(self, x):
        ops.assign(self.v, self.w)
        z = ops.exp(self.w)
        ops.assign(self.u, self.w)
        return z * self.w


class Made(Parameters):
    def construct(self, x):
        z = ops.zeros_like(x)
        o = ops.ones_like(x)
        t = ops.ones((2, 3), ms.float32)
        f = ops.full((2, 3), 2.0, dtype=ms.float32)
        z += x
        o += x
        t += x
        f += x
        return z, o, t, f


for net in (
    AddNumber,
    Local,
    ReadAround,
    Replaced,
    GivenBack,
    GivenBackLater,
    Joined,
    Expanded,
    ReadAfter,
    Twice,
    View,
    Squared,
    Several,
    Row,
    RowEndsWritten,
    RowUnwritten,
    LongRow,
    RowWithValue,
    Reshaped,
    Handed,
    Made,
    RowWrittenLater,
):
    net()(x)
